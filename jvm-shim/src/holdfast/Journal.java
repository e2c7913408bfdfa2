package holdfast;

/**
 * What changed in a query since Python was last told, one line for each change, in order.
 *
 * <p>Tab-separated: {@code f path modified size segment offset} (small, in the spool),
 * {@code o path modified size sha256 crc32 key} (large, on the store; {@code m} if it had another
 * name before), {@code d path modified}, {@code x path} (gone), {@code g key} (an object that no
 * line has named and none will). Guarded by its query.
 */
final class Journal {
  private StringBuilder lines = new StringBuilder();

  void file(String path, Entry entry, Content content) {
    char kind = !content.isObject() ? 'f' : content.moved ? 'm' : 'o';
    lines.append(kind).append('\t').append(path);
    lines.append('\t').append(entry.modifiedMs).append('\t').append(entry.size);
    if (content.isObject()) {
      lines.append('\t').append(content.sha256).append('\t').append(content.crc32);
      lines.append('\t').append(content.key);
    } else {
      Place place = entry.place;
      lines.append('\t').append(place == null ? "-" : place.segment.name());
      lines.append('\t').append(place == null ? 0 : place.offset);
    }
    lines.append('\n');
  }

  void directory(String path, Entry entry) {
    lines.append("d\t").append(path).append('\t').append(entry.modifiedMs).append('\n');
  }

  void gone(String path) {
    lines.append("x\t").append(path).append('\n');
  }

  void left(String key) {
    lines.append("g\t").append(key).append('\n');
  }

  /** A state store was loaded: {@code l path version milliseconds}. */
  void loaded(String path, long version, long milliseconds) {
    lines.append("l\t").append(path).append('\t').append(version);
    lines.append('\t').append(milliseconds).append('\n');
  }

  /** Everything so far, to be told now; what comes next is told with the next event. */
  String cut() {
    String text = lines.toString();
    lines = new StringBuilder();
    return text;
  }
}
