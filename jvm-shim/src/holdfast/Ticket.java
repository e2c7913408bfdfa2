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

  Ticket(Reply reply) throws IOException {
    kind = reply.text(1);
    key = reply.text(2);
    size = reply.number(3);
    sha256 = reply.text(4);
    address = reply.text(5);
    staging = reply.text(6);
    for (int line = 7; line < reply.size(); line++) {
      String header = reply.text(line);
      int colon = header.indexOf(": ");
      headers.put(header.substring(0, colon), header.substring(colon + 2));
    }
  }

  /** Whether the store takes such a file only through the driver. */
  boolean isNone() {
    return kind.equals("none");
  }

  boolean isFile() {
    return kind.equals("file");
  }
}
