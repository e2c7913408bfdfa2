package holdfast;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;

/**
 * One large file on its way to the store: hashed, permitted, sent, and only then published.
 *
 * <p>A try that fails gets a fresh ticket, and with it a key of its own; what the failed one left
 * behind is named by no manifest, and retention collects it.
 */
final class Upload {
  static final long PART_BYTES = 64L << 20;

  private static final int TRIES = 5;
  private static final long FIRST_WAIT_MS = 200;

  private final Namespace names;
  private final File file;
  private final Location to;
  private final long writer;
  private final long size;

  Upload(Namespace names, File file, Location to, long writer) {
    this.names = names;
    this.file = file;
    this.to = to;
    this.writer = writer;
    this.size = file.length();
  }

  /** Send it, and return what to publish; null where the store takes it only through the driver. */
  Content send() throws IOException {
    Hashes hashes = Hashes.of(file, PART_BYTES);
    for (int attempt = 1; ; attempt++) {
      try {
        Ticket ticket = names.sign(to, size, hashes.text(), writer);
        if (ticket.isNone()) {
          return null;
        }
        transfer(ticket);
        return Content.object(ticket.key, size, hashes.whole);
      } catch (InterruptedIOException stopped) {
        throw stopped;
      } catch (IOException error) {
        if (attempt == TRIES) {
          throw error;
        }
        Log.info("an upload is tried again with a fresh ticket: " + error.getMessage());
        Threads.pause(FIRST_WAIT_MS << attempt);
      }
    }
  }

  private void transfer(Ticket ticket) throws IOException {
    if (!ticket.isParts()) {
      Transfer.upload(file, 0, ticket);
      return;
    }
    StringBuilder tags = new StringBuilder();
    for (int part = 0; part < ticket.parts(); part++) {
      long from = part * PART_BYTES;
      Ticket one = ticket.part(part, Math.min(PART_BYTES, size - from));
      tags.append(part == 0 ? "" : " ").append(Transfer.upload(file, from, one));
    }
    names.finish(to, ticket.key, tags.toString(), writer);
  }
}
