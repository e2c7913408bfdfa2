package holdfast;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 as lowercase hexadecimal digits. */
final class Digest {
  private static final char[] DIGITS = "0123456789abcdef".toCharArray();

  private final MessageDigest sha256;

  Digest() {
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java has SHA-256", absent);
    }
  }

  void add(byte[] bytes, int count) {
    sha256.update(bytes, 0, count);
  }

  String hex() {
    StringBuilder text = new StringBuilder();
    for (byte each : sha256.digest()) {
      text.append(DIGITS[(each >> 4) & 0xf]).append(DIGITS[each & 0xf]);
    }
    return text.toString();
  }
}
