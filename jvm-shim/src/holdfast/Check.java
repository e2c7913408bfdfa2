package holdfast;

import java.util.zip.CRC32;

/**
 * Compares the bytes of a large file with what a ticket says was written: by CRC-32, or by SHA-256
 * where the ticket has no CRC-32. Python decides which ({@code spark.holdfast.verifyReads}).
 *
 * <p>CRC-32 costs next to nothing and finds damage, not an object that someone replaced on purpose.
 */
final class Check {
  final String expected;

  private final CRC32 crc32;
  private final Digest sha256;

  Check(Ticket ticket) {
    crc32 = ticket.crc32 < 0 ? null : new CRC32();
    sha256 = ticket.crc32 < 0 ? new Digest() : null;
    expected = sha256 == null ? named(ticket.crc32) : "SHA-256 " + ticket.sha256;
  }

  void add(byte[] bytes, int count) {
    if (sha256 == null) {
      crc32.update(bytes, 0, count);
    } else {
      sha256.add(bytes, count);
    }
  }

  /** What the bytes come to; equal to {@code expected} where they are right. */
  String actual() {
    return sha256 == null ? named(crc32.getValue()) : "SHA-256 " + sha256.hex();
  }

  private static String named(long crc) {
    return String.format("CRC-32 %08x", crc);
  }
}
