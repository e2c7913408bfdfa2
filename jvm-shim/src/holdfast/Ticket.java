package holdfast;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Permission to move one object of known size and hash: an HTTP request that the driver signed, or
 * a path on a shared disk. Fields of the answer: kind ({@code http}, {@code parts}, {@code file},
 * {@code none}), key, size, SHA-256, CRC-32 (-1: the SHA-256 is compared), address, staging path; then {@code
 * name: value} headers, or of {@code parts} a line for each part: its address and headers,
 * tab-separated.
 */
final class Ticket {
  static final int LINES_MAX = 1_000;
  private static final int FIXED = 7;

  final String kind;
  final String key;
  final long size;
  final String sha256;
  final long crc32;
  final String address;
  final String staging;
  final Map<String, String> headers = new LinkedHashMap<>();

  private final String[] lines;

  Ticket(Reply reply) throws IOException {
    this(reply.fields());
  }

  Ticket(String[] lines) throws IOException {
    if (lines.length < FIXED) {
      throw new HoldfastException("BridgeError: a ticket is too short");
    }
    this.lines = lines;
    kind = lines[0];
    key = lines[1];
    size = Reply.parse(lines[2]);
    sha256 = lines[3];
    crc32 = Reply.parse(lines[4]);
    address = lines[5];
    staging = lines[6];
    for (int line = FIXED; line < lines.length && !isParts(); line++) {
      addHeader(headers, lines[line]);
    }
  }

  /** The put of one part, counted from 0. */
  Ticket part(int number, long partSize) throws IOException {
    String[] fields = lines[FIXED + number].split("\t");
    Ticket part =
        new Ticket(new String[] {"http", key, "" + partSize, sha256, "-1", fields[0], ""});
    for (int field = 1; field < fields.length; field++) {
      addHeader(part.headers, fields[field]);
    }
    return part;
  }

  int parts() {
    return lines.length - FIXED;
  }

  boolean isParts() {
    return kind.equals("parts");
  }

  private static void addHeader(Map<String, String> headers, String line) {
    int colon = line.indexOf(": ");
    if (colon > 0) {
      headers.put(line.substring(0, colon), line.substring(colon + 2));
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
