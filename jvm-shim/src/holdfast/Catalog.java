package holdfast;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * The files that a recovery shows, as Python wrote them down: one line each, {@code path size
 * modified offset}, tab-separated; a directory's path ends with "/", and the offset is that in the
 * segment that came along, -1 where the bytes are only on the store.
 */
final class Catalog {
  final Tree tree = new Tree(0);
  long newestMs;

  static Catalog read(File file, Segment segment) throws IOException {
    Catalog catalog = new Catalog();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new FileInputStream(file), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        catalog.add(line.split("\t"), segment);
      }
    }
    return catalog;
  }

  private void add(String[] fields, Segment segment) {
    long modifiedMs = Long.parseLong(fields[2]);
    long offset = Long.parseLong(fields[3]);
    newestMs = Math.max(newestMs, modifiedMs);
    if (fields[0].endsWith("/")) {
      String path = fields[0].substring(0, fields[0].length() - 1);
      above(path, modifiedMs);
      tree.put(path, Entry.directory(modifiedMs, 0));
      return;
    }
    above(fields[0], modifiedMs);
    Place place = offset < 0 ? null : new Place(segment, offset);
    tree.put(fields[0], Entry.file(Long.parseLong(fields[1]), modifiedMs, place));
  }

  /** Directories that were never made by name, in a checkpoint that came from elsewhere. */
  private void above(String path, long modifiedMs) {
    String parent = Tree.parent(path);
    if (tree.get(parent) == null) {
      above(parent, modifiedMs);
      tree.put(parent, Entry.directory(modifiedMs, 0));
    }
  }
}
