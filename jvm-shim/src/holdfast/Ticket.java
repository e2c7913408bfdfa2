package holdfast;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Permission to move one object of known size and hash: an HTTP request that the driver signed, or
 * a path on a shared disk. Fields of the answer: kind ({@code http}, {@code file}, {@code none}),
 * key, size, sha256, address, staging path, then {@code name: value} headers.
 */
final class Ticket {
  final String kind;
  final String key;
  final long size;
  final String sha256;
  final String address;
  final String staging;
  final Map<String, String> headers = new LinkedHashMap<>();

  private final String[] lines;

  Ticket(Reply reply) throws IOException {
    this(reply.fields());
  }

  Ticket(String[] lines) throws IOException {
    if (lines.length < 6) {
      throw new HoldfastException("BridgeError: a ticket is too short");
    }
    this.lines = lines;
    kind = lines[0];
    key = lines[1];
    size = Reply.parse(lines[2]);
    sha256 = lines[3];
    address = lines[4];
    staging = lines[5];
    for (int line = 6; line < lines.length; line++) {
      int colon = lines[line].indexOf(": ");
      if (colon > 0) {
        headers.put(lines[line].substring(0, colon), lines[line].substring(colon + 2));
      }
    }
  }

  /** As it came, to be passed on to an executor. */
  String[] lines() {
    return lines;
  }

  /** Whether the store takes such a file only through the driver. */
  boolean isNone() {
    return kind.equals("none");
  }

  boolean isFile() {
    return kind.equals("file");
  }
}
