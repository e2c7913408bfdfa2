package holdfast;

import java.io.IOException;

/** Whether a path's publication is one of the two events that Python must agree to. */
final class Gate {
  enum Kind {
    INTENT,
    COMMIT
  }

  final Kind kind;
  final long batch;

  private Gate(Kind kind, long batch) {
    this.kind = kind;
    this.batch = batch;
  }

  /**
   * The gate of exactly {@code offsets/N} or {@code commits/N} below the root; null for others.
   *
   * @throws IOException where another query's log would lie inside this one's checkpoint
   */
  static Gate of(String path) throws IOException {
    int slash = path.lastIndexOf('/');
    String directory = path.substring(0, Math.max(0, slash));
    String log = directory.substring(directory.lastIndexOf('/') + 1);
    if (!isNumber(path.substring(slash + 1)) || !(log.equals("offsets") || log.equals("commits"))) {
      return null;
    }
    if (directory.length() > log.length()) {
      if (path.startsWith("sources/") || path.startsWith("state/")) {
        return null;
      }
      throw new HoldfastException(
          "ConfigError: the checkpoint of one query lies inside that of another: " + path
              + " (give each its own checkpointLocation, neither below the other)");
    }
    Kind kind = log.equals("offsets") ? Kind.INTENT : Kind.COMMIT;
    return new Gate(kind, Long.parseLong(path.substring(slash + 1)));
  }

  private static boolean isNumber(String name) {
    if (name.isEmpty() || name.length() > 18) {
      return false;
    }
    for (int at = 0; at < name.length(); at++) {
      if (name.charAt(at) < '0' || name.charAt(at) > '9') {
        return false;
      }
    }
    return true;
  }
}
