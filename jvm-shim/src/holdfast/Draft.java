package holdfast;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * A file that is written and not published yet: in memory while it is small, else on local disk.
 * Used by one thread at a time.
 */
final class Draft extends OutputStream {
  private final long largeBytes;
  private Memory memory = new Memory();
  private File file;
  private OutputStream spilled;
  private long size;
  private boolean closed;
  private boolean discarded;

  Draft(long largeBytes) {
    this.largeBytes = largeBytes;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    if (closed) {
      throw new IOException("the stream is closed");
    }
    if (spilled == null && size + count > largeBytes) {
      spill();
    }
    if (spilled == null) {
      memory.write(bytes, from, count);
    } else {
      spilled.write(bytes, from, count);
    }
    size += count;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    if (spilled != null) {
      spilled.close();
    }
  }

  boolean isClosed() {
    return closed;
  }

  long size() {
    return size;
  }

  /** Publish what was written, whole or not at all, and forget it. */
  void publish(Namespace names, Location to, boolean overwrite, long writer) throws IOException {
    if (discarded) {
      throw new HoldfastException(
          "MisuseError: a file is published once, and not after it was dropped: " + to);
    }
    try {
      if (file == null) {
        names.publish(to, Content.small(memory.bytes(), memory.size()), overwrite, writer);
      } else {
        upload(names, file, to, overwrite, writer);
      }
    } finally {
      discard();
    }
  }

  /** Publish a local file as it is: through the driver if it is small. */
  static void publish(Namespace names, File from, Location to, boolean overwrite, long writer)
      throws IOException {
    if (from.length() > names.largeBytes()) {
      upload(names, from, to, overwrite, writer);
    } else {
      byte[] bytes = whole(from);
      names.publish(to, Content.small(bytes, bytes.length), overwrite, writer);
    }
  }

  byte[] bytes() throws IOException {
    return file == null ? memory.toByteArray() : whole(file);
  }

  /** Forget it; nothing was published. */
  void discard() throws IOException {
    close();
    discarded = true;
    memory = new Memory();
    if (file != null) {
      Temporary.delete(file);
    }
  }

  private static void upload(
      Namespace names, File from, Location to, boolean overwrite, long writer)
      throws IOException {
    Content sent = new Upload(names, from, to, writer).send();
    if (sent == null) {
      byte[] bytes = whole(from);
      sent = Content.small(bytes, bytes.length);
    }
    names.publish(to, sent, overwrite, writer);
  }

  private void spill() throws IOException {
    file = Temporary.create(".draft");
    spilled = new FileOutputStream(file);
    memory.writeTo(spilled);
    memory = new Memory();
  }

  private static byte[] whole(File file) throws IOException {
    byte[] bytes = new byte[Math.toIntExact(file.length())];
    try (InputStream in = new FileInputStream(file)) {
      int at = 0;
      while (at < bytes.length) {
        int count = in.read(bytes, at, bytes.length - at);
        if (count < 0) {
          throw new IOException("a file got shorter while it was read: " + file);
        }
        at += count;
      }
    }
    return bytes;
  }

  /** Gives its own array away, so that a state file is not copied once more. */
  private static final class Memory extends ByteArrayOutputStream {
    byte[] bytes() {
      return buf;
    }
  }
}
