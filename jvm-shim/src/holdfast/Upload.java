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
  private static final int TRIES = 5;
  private static final int TRIES_IN_PARTS = 2; // each part has tries of its own
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
    Hashes hashes = Hashes.of(file);
    int tries = Parts.count(size) > 1 ? TRIES_IN_PARTS : TRIES;
    for (int attempt = 1; ; attempt++) {
      try {
        Ticket ticket = names.sign(to, size, hashes.text(), "", writer);
        if (ticket.isNone()) {
          return null;
        }
        transfer(ticket, hashes);
        return Content.object(ticket.key, size, hashes.whole, hashes.crc32);
      } catch (InterruptedIOException stopped) {
        throw stopped;
      } catch (IOException error) {
        if (attempt == tries) {
          throw error;
        }
        Log.info("an upload is tried again with a fresh ticket: " + error.getMessage());
        Threads.pause(FIRST_WAIT_MS << attempt);
      }
    }
  }

  private void transfer(Ticket ticket, Hashes hashes) throws IOException {
    if (!ticket.isParts()) {
      Transfer.upload(file, 0, ticket);
      return;
    }
    Parts parts =
        new Parts(file, ticket, begun -> names.sign(to, size, hashes.text(), begun, writer));
    names.finish(to, ticket.key, parts.send(), writer);
  }
}
