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
  static final long BYTES = 64L << 20;

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

  /** Send them all; returns the store's tags for them, separated by spaces. */
  String send() throws IOException {
    StringBuilder tags = new StringBuilder();
    for (int part = 0; part < ticket.parts(); part++) {
      tags.append(part == 0 ? "" : " ").append(sent(part));
    }
    return tags.toString();
  }

  private String sent(int part) throws IOException {
    long from = part * BYTES;
    long size = Math.min(BYTES, file.length() - from);
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
