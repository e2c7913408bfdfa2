package holdfast;

import java.io.File;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * The bytes of one query's small files on the driver's disk, in a few append-only segments.
 *
 * <p>It makes nothing durable: it hands bytes over to Python, and saves asking the store for what
 * was written or read lately. A crash loses it, and nothing else.
 */
final class Spool {
  private static final long SEGMENT_BYTES_MAX = 64L << 20;
  private static final int SEGMENTS_MIN = 8; // only whole segments can be dropped

  private final File directory;
  private final long bytesMax;
  private final long segmentBytes;
  private final Deque<Segment> segments = new ArrayDeque<>();
  private Segment open;
  private int made;
  private long bytes;
  private long cut;

  Spool(File directory, long bytesMax) {
    this.directory = directory;
    this.bytesMax = bytesMax;
    this.segmentBytes = Math.min(SEGMENT_BYTES_MAX, bytesMax / SEGMENTS_MIN);
  }

  /** Append the first {@code count} bytes. Called by any thread that publishes a small file. */
  synchronized Place append(byte[] data, int count) throws IOException {
    makeRoom(count);
    if (bytes + count > bytesMax) {
      throw new IOException(
          "ConfigError: the spool is full of files that wait for a commit, "
              + bytes + " bytes; raise spark.holdfast.spool.maxBytes");
    }
    if (open == null || open.length() >= segmentBytes) {
      open = Segment.create(new File(directory, "shim-" + (++made)));
      segments.add(open);
    }
    bytes += count;
    return new Place(open, open.append(data, count));
  }

  /**
   * Take in a segment that Python wrote into this directory; the store has all that it holds. Null
   * if it was taken in by another reader and dropped since, or if the run has ended.
   */
  synchronized Segment adopt(String name) throws IOException {
    for (Segment known : segments) {
      if (known.name().equals(name)) {
        return known; // two readers asked for one pack
      }
    }
    File file = new File(directory, name);
    if (!file.exists()) {
      return null;
    }
    Segment segment = Segment.open(file);
    makeRoom(segment.length());
    segments.add(segment); // the last to be dropped: who asked for it has not read it yet
    bytes += segment.length();
    return segment;
  }

  /** What was written up to this position is on the store by now, and may be dropped. */
  synchronized void durable(long cut) {
    this.cut = cut;
  }

  synchronized long bytes() {
    return bytes;
  }

  /** Take everything off the disk; readers that are under way go on. */
  synchronized void unlink() {
    for (Segment segment : segments) {
      segment.unlink();
    }
    File[] rest = directory.listFiles();
    for (File file : rest == null ? new File[0] : rest) {
      file.delete();
    }
    directory.delete();
  }

  /** Drop the oldest of what the store has, while there is too much. */
  private void makeRoom(long count) throws IOException {
    Iterator<Segment> oldest = segments.iterator();
    while (bytes + count > bytesMax && oldest.hasNext()) {
      Segment segment = oldest.next();
      if (segment != open && segment.isBefore(cut)) {
        bytes -= segment.length();
        oldest.remove();
        segment.drop();
      }
    }
  }
}
