package holdfast;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Messages between executors and the driver: bytes, written and read by hand.
 *
 * <p>No class of ours may cross: where the jar came by {@code --jars}, the other side cannot load
 * it, and Spark ends the executor. Every length is checked before it is believed.
 */
final class Wire {
  static final byte VERSION = 2;

  static final byte STAT = 1;
  static final byte LIST = 2;
  static final byte OPEN = 3;
  static final byte MKDIRS = 4;
  static final byte PUBLISH = 5;
  static final byte RENAME = 6;
  static final byte DELETE = 7;
  static final byte SIGN = 8;
  static final byte SETTINGS = 9;
  static final byte LOADED = 10;
  static final byte FINISH = 11;

  static final byte OK = 0;
  static final byte ABSENT = 1;
  static final byte AGAIN = 2;
  static final byte NOT_FOUND = 3;
  static final byte EXISTS = 4;
  static final byte NOT_EMPTY = 5;
  static final byte NOT_DIRECTORY = 6;
  static final byte ERROR = 7;

  private static final String[] NAMES = {
    "none", "stat", "list", "open", "mkdirs", "publish", "rename", "delete", "sign", "settings",
    "loaded", "finish"
  };

  private Wire() {}

  static String name(byte kind) {
    return kind > 0 && kind < NAMES.length ? NAMES[kind] : "unknown";
  }

  /** A message or an answer that is being written. */
  static final class Out {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);

    Out octet(int value) {
      return write(() -> out.writeByte(value));
    }

    Out flag(boolean value) {
      return octet(value ? 1 : 0);
    }

    Out number(long value) {
      return write(() -> out.writeLong(value));
    }

    Out text(String value) {
      byte[] encoded = value.getBytes(StandardCharsets.UTF_8);
      return body(encoded, encoded.length);
    }

    Out body(byte[] value, int count) {
      return write(
          () -> {
            out.writeInt(count);
            out.write(value, 0, count);
          });
    }

    Out entry(Entry entry) {
      return flag(entry.directory).number(entry.size).number(entry.modifiedMs);
    }

    int size() {
      return bytes.size();
    }

    byte[] done() {
      return bytes.toByteArray();
    }

    private Out write(Step step) {
      try {
        step.run();
        return this;
      } catch (IOException impossible) {
        throw new IllegalStateException("memory does not fail", impossible);
      }
    }

    private interface Step {
      void run() throws IOException;
    }
  }

  /** A message or an answer that is read; whatever is wrong with it is an IOException. */
  static final class In {
    private final ByteArrayInputStream bytes;
    private final DataInputStream in;

    In(byte[] message) {
      bytes = new ByteArrayInputStream(message);
      in = new DataInputStream(bytes);
    }

    byte octet() throws IOException {
      return in.readByte();
    }

    boolean flag() throws IOException {
      byte value = octet();
      if (value != 0 && value != 1) {
        throw new IOException("a message has an invalid flag");
      }
      return value == 1;
    }

    long number() throws IOException {
      return in.readLong();
    }

    String text() throws IOException {
      return new String(sized(Limits.TEXT_BYTES_MAX), StandardCharsets.UTF_8);
    }

    byte[] body() throws IOException {
      return sized(Integer.MAX_VALUE); // no longer than the message, which is limited
    }

    Entry entry() throws IOException {
      boolean directory = flag();
      long size = number();
      long modifiedMs = number();
      return directory ? Entry.directory(modifiedMs, 0) : Entry.file(size, modifiedMs, null);
    }

    void end() throws IOException {
      if (bytes.available() > 0) {
        throw new IOException("a message is longer than it says");
      }
    }

    private byte[] sized(int limit) throws IOException {
      int count = in.readInt();
      if (count < 0 || count > limit || count > bytes.available()) {
        throw new IOException("a message has an impossible length: " + count);
      }
      byte[] value = new byte[count];
      in.readFully(value);
      return value;
    }
  }
}
