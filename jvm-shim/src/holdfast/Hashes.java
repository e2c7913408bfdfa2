package holdfast;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;

/** A file's SHA-256 and CRC-32, and the SHA-256 of each part if it has several; read once. */
final class Hashes {
  final String whole;
  final long crc32;
  private final String parts;

  private Hashes(String whole, long crc32, String parts) {
    this.whole = whole;
    this.crc32 = crc32;
    this.parts = parts;
  }

  static Hashes of(File file, long partBytes) throws IOException {
    Digest whole = new Digest();
    CRC32 crc32 = new CRC32();
    Digest part = new Digest();
    StringBuilder parts = new StringBuilder();
    boolean several = file.length() > partBytes;
    byte[] buffer = new byte[1 << 20];
    long inPart = 0;
    try (InputStream in = new FileInputStream(file)) {
      for (int count = in.read(buffer, 0, room(buffer, inPart, partBytes));
          count >= 0;
          count = in.read(buffer, 0, room(buffer, inPart, partBytes))) {
        whole.add(buffer, count);
        crc32.update(buffer, 0, count);
        if (several) {
          part.add(buffer, count);
          inPart += count;
        }
        if (inPart == partBytes) {
          parts.append(' ').append(part.hex());
          part = new Digest();
          inPart = 0;
        }
      }
    }
    if (several && inPart > 0) {
      parts.append(' ').append(part.hex());
    }
    return new Hashes(whole.hex(), crc32.getValue(), parts.toString());
  }

  /** The SHA-256 of the whole file, then of its parts, separated by spaces. */
  String text() {
    return whole + parts;
  }

  private static int room(byte[] buffer, long inPart, long partBytes) {
    return (int) Math.min(buffer.length, partBytes - inPart);
  }
}
