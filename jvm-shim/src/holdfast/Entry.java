package holdfast;

import java.io.IOException;

/** One file or directory of a query, as the driver shows it. */
final class Entry {
  final boolean directory;
  final long size;
  final long modifiedMs;

  /** Its position among all changes of this query; what a commit has cut off is below its cut. */
  final long order;

  /** Where its bytes are on this machine; null where they are only on the store. */
  volatile Place place;

  /** The object of a large file that this run published; null where Python knows it. */
  final Content object;

  private Entry(
      boolean directory, long size, long modifiedMs, long order, Place place, Content object) {
    this.directory = directory;
    this.size = size;
    this.modifiedMs = modifiedMs;
    this.order = order;
    this.place = place;
    this.object = object;
  }

  static Entry directory(long modifiedMs, long order) {
    return new Entry(true, 0, modifiedMs, order, null, null);
  }

  /** A file that a recovery shows. */
  static Entry file(long size, long modifiedMs, Place place) {
    return new Entry(false, size, modifiedMs, 0, place, null);
  }

  /** A small file's bytes if they are on this machine, else null. */
  byte[] local() throws IOException {
    if (size == 0) {
      return new byte[0];
    }
    Place here = place;
    return here == null ? null : here.read(size);
  }

  /** A file that is published now. */
  static Entry published(Content content, long modifiedMs, long order, Place place) {
    Content object = content.isObject() ? content : null;
    return new Entry(false, content.size, modifiedMs, order, place, object);
  }
}
