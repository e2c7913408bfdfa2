package holdfast;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSInputStream;

/** Reads a small file's bytes. */
final class BytesInput extends FSInputStream {
  private final byte[] bytes;
  private int position;
  private boolean closed;

  BytesInput(byte[] bytes) {
    this.bytes = bytes;
  }

  @Override
  public void seek(long target) throws IOException {
    requireOpen();
    if (target < 0 || target > bytes.length) {
      throw new EOFException("no such position: " + target);
    }
    position = (int) target;
  }

  @Override
  public long getPos() {
    return position;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public int read() throws IOException {
    requireOpen();
    return position < bytes.length ? bytes[position++] & 0xff : -1;
  }

  @Override
  public int read(byte[] into, int from, int count) throws IOException {
    requireOpen();
    if (count == 0) {
      return 0;
    }
    int given = Math.min(count, bytes.length - position);
    if (given <= 0) {
      return -1;
    }
    System.arraycopy(bytes, position, into, from, given);
    position += given;
    return given;
  }

  @Override
  public int available() throws IOException {
    requireOpen();
    return bytes.length - position;
  }

  @Override
  public void close() {
    closed = true;
  }

  private void requireOpen() throws IOException {
    if (closed) {
      throw new IOException("the stream is closed");
    }
  }
}
