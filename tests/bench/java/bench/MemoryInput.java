package bench;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSInputStream;

/** Reads a file of the floor. Used by one thread at a time. */
final class MemoryInput extends FSInputStream {
  private final byte[] bytes;
  private int position;

  MemoryInput(byte[] bytes) {
    this.bytes = bytes;
  }

  @Override
  public void seek(long target) throws IOException {
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
  public int read() {
    return position < bytes.length ? bytes[position++] & 0xff : -1;
  }

  @Override
  public int read(byte[] into, int from, int count) {
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
  public int available() {
    return bytes.length - position;
  }
}
