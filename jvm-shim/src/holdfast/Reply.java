package holdfast;

import java.io.IOException;
import java.util.Arrays;

/**
 * An answer of Python: its first line is {@code ok}, {@code absent}, {@code same} or {@code error},
 * the fields follow, a line each.
 */
final class Reply {
  private final String[] lines;

  private Reply(String[] lines) {
    this.lines = lines;
  }

  /**
   * Read an answer.
   *
   * @throws HoldfastException if it is an error, with its text
   */
  static Reply of(String text) throws IOException {
    if (text == null) {
      throw new HoldfastException("BridgeError: the Python side gave no answer");
    }
    Reply reply = new Reply(text.split("\n", -1));
    if (reply.is("error")) {
      throw new HoldfastException(text.substring("error\n".length()));
    }
    return reply;
  }

  boolean is(String word) {
    return lines[0].equals(word);
  }

  /** The field at a position, counted from 1. */
  String text(int position) throws IOException {
    if (position >= lines.length) {
      throw new HoldfastException("BridgeError: an answer of the Python side is too short");
    }
    return lines[position];
  }

  long number(int position) throws IOException {
    return parse(text(position));
  }

  /** All fields, without the first word. */
  String[] fields() {
    return Arrays.copyOfRange(lines, 1, lines.length);
  }

  static long parse(String text) throws IOException {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException error) {
      throw new HoldfastException("BridgeError: an answer of the Python side has no number", error);
    }
  }

  int size() {
    return lines.length;
  }
}
