package holdfast;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** Where a {@code holdfast:} path points: a store's name ("" is the default) and a path in it. */
final class Location {
  private static final int LENGTH_MAX = 4096;
  private static final int DEPTH_MAX = 64;

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

  /**
   * A place that another process names.
   *
   * @throws IOException where no filesystem of ours would have named it so
   */
  static Location told(String store, String path) throws IOException {
    if (store.indexOf('/') >= 0) {
      throw new IOException("ConfigError: a store's name has no \"/\": " + told(store));
    }
    return new Location(told(store), told(path));
  }

  /** A relative path that is normal, and no longer or deeper than any that Spark writes. */
  static String told(String path) throws IOException {
    if (path.length() > LENGTH_MAX) {
      throw new IOException("ConfigError: a path has at most " + LENGTH_MAX + " characters");
    }
    String[] names = path.isEmpty() ? new String[0] : path.split("/", -1);
    if (names.length > DEPTH_MAX) {
      throw new IOException("ConfigError: a path has at most " + DEPTH_MAX + " names");
    }
    for (String name : names) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        throw new IOException("ConfigError: a path is relative and normal, not " + path);
      }
    }
    return checked(path);
  }

  /**
   * The path itself, if a task may write there: executors, and tasks in the driver's process.
   *
   * @throws IOException where it is not below {@code state/}, which is all that Spark's tasks write
   */
  static String requireState(String path) throws IOException {
    if (!path.startsWith("state/")) {
      throw new HoldfastException("MisuseError: a task writes only below state/, not to " + path);
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
