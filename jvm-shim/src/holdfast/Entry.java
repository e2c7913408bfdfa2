package holdfast;

/** One file or directory of a query, as the driver shows it. */
final class Entry {
  final boolean directory;
  final long size;
  final long modifiedMs;

  /** Its position among all changes of this query; what a commit has cut off is below its cut. */
  final long order;

  /** Where its bytes are on this machine; null where they are only on the store. */
  volatile Place place;

  private Entry(boolean directory, long size, long modifiedMs, long order, Place place) {
    this.directory = directory;
    this.size = size;
    this.modifiedMs = modifiedMs;
    this.order = order;
    this.place = place;
  }

  static Entry directory(long modifiedMs, long order) {
    return new Entry(true, 0, modifiedMs, order, null);
  }

  static Entry file(long size, long modifiedMs, long order, Place place) {
    return new Entry(false, size, modifiedMs, order, place);
  }

  /** The same bytes under another name. */
  Entry moved(long modifiedMs, long order) {
    return new Entry(directory, size, modifiedMs, order, place);
  }
}
