package holdfast;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A file's SHA-256, and those of its parts if it has more than one; read once. */
final class Hashes {
  final String whole;
  private final String parts;

  private Hashes(String whole, String parts) {
    this.whole = whole;
    this.parts = parts;
  }

  static Hashes of(File file, long partBytes) throws IOException {
    Digest whole = new Digest();
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
    return new Hashes(whole.hex(), parts.toString());
  }

  /** The whole file's, then the parts', separated by spaces. */
  String text() {
    return whole + parts;
  }

  private static int room(byte[] buffer, long inPart, long partBytes) {
    return (int) Math.min(buffer.length, partBytes - inPart);
  }
}
