package holdfast;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.apache.hadoop.fs.FSInputStream;

/** Reads a large file from a local copy of its own, which goes with the stream. */
final class FileInput extends FSInputStream {
  private final File file;
  private final RandomAccessFile in;

  FileInput(Source source) throws IOException {
    file = Temporary.create(".large");
    try {
      Transfer.download(source, file);
      in = new RandomAccessFile(file, "r");
    } finally {
      Temporary.delete(file); // the open handle keeps the bytes; nothing is left behind by a crash
    }
  }

  @Override
  public void seek(long position) throws IOException {
    if (position < 0 || position > in.length()) {
      throw new EOFException("no such position: " + position);
    }
    in.seek(position);
  }

  @Override
  public long getPos() throws IOException {
    return in.getFilePointer();
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public int read() throws IOException {
    return in.read();
  }

  @Override
  public int read(byte[] bytes, int from, int count) throws IOException {
    return in.read(bytes, from, count);
  }

  @Override
  public int available() throws IOException {
    return (int) Math.min(Integer.MAX_VALUE, in.length() - in.getFilePointer());
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
