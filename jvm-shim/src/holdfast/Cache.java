package holdfast;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Bytes that came with a listing, for the opens that follow it: bounded, and soon forgotten.
 *
 * <p>Each is given once, to the start of the query that it was listed for, and only while that
 * listing is fresh: under another start, after a rollback, a name may stand for other bytes.
 */
final class Cache {
  private static final long BYTES_MAX = 64L << 20;
  private static final long FRESH_MS = 10_000;

  private final Map<String, Kept> kept = new LinkedHashMap<>();
  private long bytes;

  synchronized void put(Location at, long writer, Entry entry, byte[] body) {
    if (entry == null || entry.size != body.length) {
      return;
    }
    remove(at.toString());
    kept.put(at.toString(), new Kept(writer, body));
    bytes += body.length;
    Iterator<Map.Entry<String, Kept>> oldest = kept.entrySet().iterator();
    while (bytes > BYTES_MAX && oldest.hasNext()) {
      bytes -= oldest.next().getValue().body.length;
      oldest.remove();
    }
  }

  /** The bytes, if they came a moment ago. */
  synchronized byte[] take(Location at, long writer) {
    Kept found = remove(at.toString());
    if (found == null || found.writer != writer) {
      return null;
    }
    return System.currentTimeMillis() - found.sinceMs < FRESH_MS ? found.body : null;
  }

  private Kept remove(String key) {
    Kept found = kept.remove(key);
    bytes -= found == null ? 0 : found.body.length;
    return found;
  }

  private static final class Kept {
    final long writer;
    final byte[] body;
    final long sinceMs = System.currentTimeMillis();

    Kept(long writer, byte[] body) {
      this.writer = writer;
      this.body = body;
    }
  }
}
