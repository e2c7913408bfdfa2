package holdfast;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;

/** A file's SHA-256 and CRC-32, and the SHA-256 of each part if it has several; read once. */
final class Hashes {
  private static final int BUFFER_BYTES = 1 << 20;

  final String whole;
  final long crc32;
  private final String parts;

  private Hashes(String whole, long crc32, String parts) {
    this.whole = whole;
    this.crc32 = crc32;
    this.parts = parts;
  }

  static Hashes of(File file) throws IOException {
    long size = file.length();
    boolean several = Parts.count(size) > 1;
    Digest whole = new Digest();
    CRC32 crc32 = new CRC32();
    StringBuilder parts = new StringBuilder();
    byte[] buffer = new byte[BUFFER_BYTES];
    long at = 0;
    try (InputStream in = new FileInputStream(file)) {
      for (int part = 0; part < Parts.count(size); part++) {
        Digest own = new Digest();
        for (long end = Parts.end(part, size); at < end; ) {
          int count = in.read(buffer, 0, (int) Math.min(buffer.length, end - at));
          if (count < 0) {
            throw new IOException("a file got shorter while it was read: " + file);
          }
          whole.add(buffer, count);
          crc32.update(buffer, 0, count);
          if (several) {
            own.add(buffer, count);
          }
          at += count;
        }
        parts.append(several ? " " + own.hex() : "");
      }
    }
    return new Hashes(whole.hex(), crc32.getValue(), parts.toString());
  }

  /** The SHA-256 of the whole file, then of its parts, separated by spaces. */
  String text() {
    return whole + parts;
  }
}
