package holdfast;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** Where a {@code holdfast:} path points: a store's name ("" is the default) and a path in it. */
final class Location {
  final String store;
  final String path;

  Location(String store, String path) {
    this.store = store;
    this.path = path;
  }

  static Location of(Path path) {
    String authority = path.toUri().getAuthority();
    return new Location(authority == null ? "" : authority, bare(path.toUri().getPath()));
  }

  /** Another path of the same store. */
  Location in(String path) {
    return new Location(store, path);
  }

  /** What is below this, by its relative path. */
  Location child(String relative) {
    return in(Tree.join(path, relative));
  }

  /** The key of the query whose root this is. */
  String key() {
    return store + "/" + path;
  }

  /** The directory above; null for the store itself. */
  Location parent() {
    if (path.isEmpty()) {
      return null;
    }
    return in(path.substring(0, Math.max(0, path.lastIndexOf('/'))));
  }

  /** What comes after a root, "" for the root itself. */
  String below(String root) {
    return path.length() == root.length() ? "" : path.substring(root.length() + 1);
  }

  /**
   * The path itself, if it can be written down.
   *
   * @throws IOException where it has characters that no manifest can hold
   */
  static String checked(String path) throws IOException {
    for (int at = 0; at < path.length(); at++) {
      if (path.charAt(at) < ' ' || path.charAt(at) == 0x7f) {
        throw new IOException("ConfigError: a path has no control characters: " + path);
      }
    }
    return path;
  }

  private static String bare(String path) {
    int from = 0;
    int to = path.length();
    while (from < to && path.charAt(from) == '/') {
      from++;
    }
    while (to > from && path.charAt(to - 1) == '/') {
      to--;
    }
    return path.substring(from, to);
  }

  @Override
  public String toString() {
    return "holdfast://" + store + "/" + path;
  }
}
