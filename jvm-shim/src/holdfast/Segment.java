package holdfast;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * One append-only file of the spool.
 *
 * <p>A RandomAccessFile and not a channel: a channel closes for everybody when the thread that
 * uses it is interrupted, and {@code query.stop()} interrupts.
 */
final class Segment {
  private final File file;
  private RandomAccessFile handle;
  private long length;
  private long newest;
  private int unsettled;

  private Segment(File file, RandomAccessFile handle, long length) {
    this.file = file;
    this.handle = handle;
    this.length = length;
  }

  static Segment create(File file) throws IOException {
    return new Segment(file, handle(file, "rw"), 0);
  }

  /** A segment that Python wrote whole. */
  static Segment open(File file) throws IOException {
    return new Segment(file, handle(file, "r"), file.length());
  }

  /** Spark takes FileNotFoundException for "this checkpoint file is absent": never from here. */
  private static RandomAccessFile handle(File file, String mode) throws IOException {
    try {
      return new RandomAccessFile(file, mode);
    } catch (FileNotFoundException gone) {
      throw new HoldfastException(
          "BridgeError: the spool lost a segment, or its run has ended: " + gone.getMessage(), gone);
    }
  }

  synchronized long append(byte[] bytes, int count) throws IOException {
    if (handle == null) {
      throw new IOException("the spool was closed: " + file);
    }
    long offset = length;
    handle.seek(offset);
    handle.write(bytes, 0, count);
    length += count;
    unsettled++;
    return offset;
  }

  /** What was appended has its entry's position by now, or 0 if it has no entry. */
  synchronized void settle(long order) {
    newest = Math.max(newest, order);
    unsettled--;
  }

  synchronized byte[] read(long offset, long size) throws IOException {
    if (handle == null) {
      return null;
    }
    byte[] bytes = new byte[Math.toIntExact(size)];
    handle.seek(offset);
    handle.readFully(bytes);
    return bytes;
  }

  synchronized boolean isDropped() {
    return handle == null;
  }

  synchronized long length() {
    return length;
  }

  /** Whether all that it holds was written before a cut. */
  synchronized boolean isBefore(long cut) {
    return unsettled == 0 && newest <= cut;
  }

  String name() {
    return file.getName();
  }

  /** Take the name away; who reads from it goes on, and the space is freed with the last one. */
  void unlink() {
    file.delete();
  }

  /** Give the disk space back at once; whoever reads next asks the store. */
  synchronized void drop() throws IOException {
    if (handle != null) {
      handle.close();
      handle = null;
      if (!file.delete() && file.exists()) {
        throw new IOException("cannot delete a segment of the spool: " + file);
      }
    }
  }
}
