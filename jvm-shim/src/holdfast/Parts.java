package holdfast;

import java.io.File;
import java.io.IOException;

/**
 * The parts of one large file on their way to the store.
 *
 * <p>Each is tried again by itself, with a fresh ticket for the same upload: a large file may take
 * longer than one lasts. A server that refuses one often hangs up before it says so.
 */
final class Parts {
  private static final long BYTES_MIN = 64L << 20;
  private static final int COUNT_MAX = 256;
  private static final int TRIES = 5;
  private static final long FIRST_WAIT_MS = 200;

  private final File file;
  private final Renewal renewal;
  private Ticket ticket;

  Parts(File file, Ticket ticket, Renewal renewal) {
    this.file = file;
    this.ticket = ticket;
    this.renewal = renewal;
  }

  /**
   * How many parts a file of this size has. The last one takes what is left over: RocksDB cuts its
   * tables a little above 64 MiB, and each is one request, not four.
   */
  static int count(long size) {
    return (int) Math.max(1, size / bytes(size));
  }

  /** Where a part of a file of this size ends, and the next one begins. */
  static long end(int part, long size) {
    return part + 1 < count(size) ? (part + 1) * bytes(size) : size;
  }

  /** The size of each part but the last; {@code tickets.py} has the same rule. */
  private static long bytes(long size) {
    return Math.max(BYTES_MIN, (size + COUNT_MAX - 1) / COUNT_MAX);
  }

  /** Send them all; returns the store's tags for them, separated by spaces. */
  String send() throws IOException {
    StringBuilder tags = new StringBuilder();
    for (int part = 0; part < ticket.parts(); part++) {
      tags.append(part == 0 ? "" : " ").append(sent(part));
    }
    return tags.toString();
  }

  private String sent(int part) throws IOException {
    long from = part * bytes(ticket.size);
    long size = end(part, ticket.size) - from;
    for (int attempt = 1; ; attempt++) {
      try {
        return Transfer.upload(file, from, ticket.part(part, size));
      } catch (UnavailableException error) {
        if (attempt == TRIES) {
          throw error;
        }
        Log.info("part " + part + " of an upload is tried again: " + error.getMessage());
        Threads.pause(FIRST_WAIT_MS << attempt);
        ticket = renewal.renew(ticket.key);
      }
    }
  }

  /** Asks for a fresh ticket for the upload with this key. */
  interface Renewal {
    Ticket renew(String key) throws IOException;
  }
}
