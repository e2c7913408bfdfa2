package holdfast;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/**
 * Moves large files between this machine's disk and the store, streamed, as a ticket allows.
 *
 * <p>Killed in the middle → an object that no manifest names, which retention collects. A server
 * that stalls or drips bytes → the attempt fails, and is tried again: see {@link Attempt}.
 */
final class Transfer {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int CONNECT_MS = 10_000;
  private static final int READ_MS = 60_000;
  private static final int TRIES = 5;
  private static final long FIRST_WAIT_MS = 200;

  private Transfer() {}

  /**
   * Make a file, or the part of it that begins here, durable on the store; its bytes were hashed
   * before the ticket was signed. Returns the store's tag for it.
   */
  static String upload(File file, long from, Ticket ticket) throws IOException {
    return upload(file, from, ticket, Attempt.Pace.USUAL);
  }

  static String upload(File file, long from, Ticket ticket, Attempt.Pace pace)
      throws IOException {
    if (ticket.isFile()) {
      place(file, ticket);
      return "";
    }
    Attempt attempt = new Attempt(ticket.key, pace);
    return attempt.run(() -> sent(file, from, ticket, attempt));
  }

  private static String sent(File file, long from, Ticket ticket, Attempt attempt)
      throws IOException {
    try {
      return put(file, from, ticket, attempt);
    } catch (HoldfastException ours) {
      throw ours;
    } catch (IOException broken) {
      throw unreached(ticket, broken);
    }
  }

  private static String put(File file, long from, Ticket ticket, Attempt attempt)
      throws IOException {
    HttpURLConnection request = connect(ticket, "PUT", attempt);
    request.setDoOutput(true);
    request.setFixedLengthStreamingMode(ticket.size);
    try (RandomAccessFile in = new RandomAccessFile(file, "r");
        OutputStream out = request.getOutputStream()) {
      in.seek(from);
      byte[] buffer = new byte[BUFFER_BYTES];
      for (long left = ticket.size; left > 0; ) {
        int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (count < 0) {
          throw new IOException("a file got shorter while it was sent: " + file);
        }
        out.write(buffer, 0, count);
        attempt.sent(count);
        left -= count;
      }
    }
    require(request, ticket);
    String tag = request.getHeaderField("ETag");
    if (tag == null || tag.isEmpty()) { // S3 reports some errors in the body of a 200
      throw new HoldfastException(
          "UnavailableError: the store does not confirm a large file: " + ticket.key);
    }
    return tag;
  }

  /**
   * Write the object to a local file, which is complete and checked, or an error. What may be gone
   * at the next try is tried again, with a fresh ticket.
   */
  static void download(Source source, File file) throws IOException {
    download(source, file, Attempt.Pace.USUAL);
  }

  static void download(Source source, File file, Attempt.Pace pace) throws IOException {
    Source from = source;
    for (int attempt = 1; ; attempt++) {
      try {
        get(from.ticket, file, pace);
        return;
      } catch (UnavailableException error) {
        if (attempt == TRIES) {
          throw error;
        }
        Log.info("a download is tried again: " + error.getMessage());
        Threads.pause(FIRST_WAIT_MS << attempt);
        from = source.again();
      }
    }
  }

  static void get(Ticket ticket, File file, Attempt.Pace pace) throws IOException {
    Attempt attempt = new Attempt(ticket.key, pace);
    Check check = new Check(ticket);
    long received;
    try (OutputStream out = new FileOutputStream(file)) { // here: an abandoned attempt opens nothing
      received =
          ticket.isFile()
              ? receive(ticket, out, check, attempt)
              : attempt.run(() -> receive(ticket, out, check, attempt));
    } catch (HoldfastException | InterruptedIOException known) {
      throw known;
    } catch (IOException broken) {
      throw unreached(ticket, broken);
    }
    if (received < ticket.size && !ticket.isFile()) {
      throw new UnavailableException(
          "UnavailableError: a large file breaks off: " + ticket.key + " after " + received + " of "
              + ticket.size + " bytes");
    }
    String actual = check.actual();
    if (received != ticket.size || !actual.equals(check.expected)) {
      throw new HoldfastException(
          "CorruptionError: an object is not what was written: " + ticket.key + " has " + received
              + " bytes and " + actual + ", not " + ticket.size + " and " + check.expected);
    }
  }

  /** Write the object's bytes; returns how many there were. */
  private static long receive(Ticket ticket, OutputStream out, Check check, Attempt attempt)
      throws IOException {
    long received = 0;
    try (InputStream in = input(ticket, attempt)) {
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        attempt.received(buffer, count, out);
        check.add(buffer, count);
        received += count;
      }
      return received;
    } catch (HoldfastException ours) {
      throw ours;
    } catch (IOException broken) {
      throw unreached(ticket, broken);
    }
  }

  private static InputStream input(Ticket ticket, Attempt attempt) throws IOException {
    if (ticket.isFile()) {
      File object = new File(ticket.address);
      if (!object.exists()) { // never FileNotFoundException, which is "absent" to Spark
        throw new HoldfastException("CorruptionError: an object is missing: " + ticket.key);
      }
      return new FileInputStream(object);
    }
    HttpURLConnection request = connect(ticket, "GET", attempt);
    require(request, ticket);
    return request.getInputStream();
  }

  private static HttpURLConnection connect(Ticket ticket, String method, Attempt attempt)
      throws IOException {
    HttpURLConnection request = (HttpURLConnection) new URL(ticket.address).openConnection();
    attempt.uses(request);
    request.setRequestMethod(method);
    request.setConnectTimeout(CONNECT_MS);
    request.setReadTimeout(READ_MS);
    request.setInstanceFollowRedirects(false);
    for (Map.Entry<String, String> header : ticket.headers.entrySet()) {
      request.setRequestProperty(header.getKey(), header.getValue());
    }
    return request;
  }

  /** The URL is a secret, so the error names the key only. */
  private static void require(HttpURLConnection request, Ticket ticket) throws IOException {
    int status = request.getResponseCode();
    String what = ticket.key + ", HTTP " + status;
    if (status == HttpURLConnection.HTTP_FORBIDDEN) {
      throw new UnavailableException(
          "PermissionDeniedError: the store refuses a large file: " + what
              + " (allow what conf/iam-policy.json lists; a ticket lasts ticketSeconds)");
    }
    if (status == HttpURLConnection.HTTP_NOT_FOUND && !request.getDoOutput()) {
      throw new HoldfastException("CorruptionError: an object is missing: " + what);
    }
    if (status != HttpURLConnection.HTTP_OK) {
      throw new UnavailableException(
          "UnavailableError: the store does not take or give a large file now: " + what);
    }
  }

  /**
   * No whole answer came, whatever Java calls it; a timeout is no interrupt. Of the URL only the
   * host is told: the rest is a secret.
   */
  private static IOException unreached(Ticket ticket, IOException broken) throws IOException {
    String reason = String.valueOf(broken.getMessage());
    String store = ticket.isFile() ? ticket.address : new URL(ticket.address).getAuthority();
    return new UnavailableException(
        "UnavailableError: a large file did not get through: " + ticket.key + ": "
            + broken.getClass().getSimpleName() + (reason.contains("://") ? "" : " " + reason)
            + " (files above spark.holdfast.largeFileBytes go between executors and the store"
            + " themselves: does this machine reach " + store + "?)");
  }

  /** On a shared disk: written aside, synced, and linked under its name. */
  private static void place(File file, Ticket ticket) throws IOException {
    Path staging = Paths.get(ticket.staging);
    Path target = Paths.get(ticket.address);
    Files.createDirectories(staging.getParent());
    Files.createDirectories(target.getParent());
    try {
      try (InputStream in = new FileInputStream(file);
          FileOutputStream out = new FileOutputStream(staging.toFile())) {
        copy(in, out);
        out.getFD().sync();
      }
      if (Files.size(staging) != ticket.size) {
        throw new IOException("a file changed while it was copied: " + file);
      }
      Files.createLink(target, staging);
    } catch (FileAlreadyExistsException again) {
      Log.info("a large file was placed by an earlier try: " + ticket.key);
    } finally {
      Files.deleteIfExists(staging); // a full disk is not filled further by what failed
    }
    try (FileChannel directory = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
      directory.force(true);
    }
  }

  private static void copy(InputStream in, OutputStream out) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
      out.write(buffer, 0, count);
    }
  }
}
