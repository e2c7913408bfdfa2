package holdfast;

/** What is published: a small file's bytes, or the object on the store that holds a large one. */
final class Content {
  final byte[] bytes;
  final int count;
  final String key;
  final long size;
  final String sha256;
  final long crc32;

  /** Whether it had another name before, so that a record may name the object already. */
  final boolean moved;

  private Content(
      byte[] bytes, int count, String key, long size, String sha256, long crc32, boolean moved) {
    this.bytes = bytes;
    this.count = count;
    this.key = key;
    this.size = size;
    this.sha256 = sha256;
    this.crc32 = crc32;
    this.moved = moved;
  }

  /** The first {@code count} of these bytes, which are not changed any more. */
  static Content small(byte[] bytes, int count) {
    return new Content(bytes, count, null, count, null, -1, false);
  }

  /** An object that is durable already. */
  static Content object(String key, long size, String sha256, long crc32) {
    return new Content(null, 0, key, size, sha256, crc32, false);
  }

  /** The same under another name. */
  Content renamed() {
    return new Content(bytes, count, key, size, sha256, crc32, true);
  }

  boolean isObject() {
    return key != null;
  }

  /** An object as Python is told of it. */
  String text() {
    return size + " " + sha256 + " " + crc32 + " " + key;
  }
}
