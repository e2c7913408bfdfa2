package holdfast;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/** Answers to executors, as bytes. */
final class Answers {
  private static final int ERROR_TEXT_MAX = 4000;

  private Answers() {}

  static byte[] done() {
    return new Wire.Out().octet(Wire.OK).done();
  }

  static byte[] absent() {
    return new Wire.Out().octet(Wire.ABSENT).done();
  }

  static byte[] askAgain() {
    return new Wire.Out().octet(Wire.AGAIN).done();
  }

  static byte[] number(long value) {
    return new Wire.Out().octet(Wire.OK).number(value).done();
  }

  static byte[] entry(Entry entry) {
    return entry == null ? absent() : new Wire.Out().octet(Wire.OK).entry(entry).done();
  }

  static byte[] bytes(byte[] bytes) {
    return new Wire.Out().octet(Wire.OK).flag(true).body(bytes, bytes.length).done();
  }

  static byte[] source(Source source) {
    return source.ticket == null ? bytes(source.bytes) : ticket(source.ticket);
  }

  static byte[] ticket(Ticket ticket) {
    Wire.Out out = new Wire.Out().octet(Wire.OK).flag(false);
    out.number(ticket.lines().length);
    for (String line : ticket.lines()) {
      out.text(line);
    }
    return out.done();
  }

  /** A directory's names, with the bytes of what the reader of a state store opens next. */
  static byte[] listing(Query query, String path) throws IOException {
    NavigableMap<String, Entry> found = query.list(path);
    if (found == null) {
      return absent();
    }
    Wire.Out out = new Wire.Out().octet(Wire.OK).number(query.writer).number(found.size());
    for (Map.Entry<String, Entry> each : found.entrySet()) {
      out.text(each.getKey()).entry(each.getValue());
      Limits.require("bytes of a listing", out.size(), Limits.LISTING_BYTES_MAX);
    }
    for (String name : Hydration.wanted(path, found)) {
      Entry entry = found.get(name);
      // Another attempt may still replace the files of a running batch, so those are left out.
      boolean taken =
          entry.size <= Limits.HYDRATED_BYTES_MAX - out.size() && query.isSealed(entry);
      byte[] bytes = taken ? entry.local() : null;
      if (bytes != null) {
        out.text(name).body(bytes, bytes.length);
      }
    }
    return out.text("").done();
  }

  static byte[] error(String text) {
    return new Wire.Out().octet(Wire.ERROR).text(text).done();
  }

  /** Some exceptions have a meaning to Spark, so their kind crosses as well. */
  static byte[] error(IOException error) {
    int kind =
        error instanceof FileNotFoundException ? Wire.NOT_FOUND
            : error instanceof FileAlreadyExistsException ? Wire.EXISTS
                : error instanceof PathIsNotEmptyDirectoryException ? Wire.NOT_EMPTY
                    : error instanceof ParentNotDirectoryException ? Wire.NOT_DIRECTORY
                        : Wire.ERROR;
    String text = String.valueOf(error.getMessage());
    String shown = text.substring(0, Math.min(text.length(), ERROR_TEXT_MAX));
    return new Wire.Out().octet(kind).text(shown).done();
  }
}
