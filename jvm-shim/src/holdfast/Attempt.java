package holdfast;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One attempt to move a large file over HTTP, on a thread of its own.
 *
 * <p>A write to a socket has no timeout, and a server that drips bytes never reaches the timeout of
 * a read. So the caller waits, and gives up when too few bytes move; an interrupt ends the wait,
 * too. The attempt's thread may stay blocked until its connection is closed, and changes nothing
 * more.
 */
final class Attempt {
  private final String key;
  private final Pace pace;
  private final AtomicLong moved = new AtomicLong();
  private volatile HttpURLConnection request;
  private boolean abandoned;

  Attempt(String key, Pace pace) {
    this.key = key;
    this.pace = pace;
  }

  /**
   * Do the work, and wait for it.
   *
   * @throws UnavailableException where it is too slow
   * @throws InterruptedIOException where the caller is interrupted
   */
  <T> T run(Work<T> work) throws IOException {
    FutureTask<T> task = new FutureTask<>(work::run);
    Thread thread = new Thread(task, "holdfast-transfer");
    thread.setDaemon(true);
    thread.start();
    try {
      return await(task);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted during the transfer of " + key);
    } catch (ExecutionException failed) {
      throw cause(failed);
    } finally {
      if (!task.isDone()) {
        abandon();
      }
    }
  }

  private <T> T await(FutureTask<T> task)
      throws IOException, InterruptedException, ExecutionException {
    long before = 0;
    while (true) {
      try {
        return task.get(pace.windowMs, TimeUnit.MILLISECONDS);
      } catch (TimeoutException running) {
        long now = moved.get();
        if (now - before < pace.bytesMin) {
          throw new UnavailableException(
              "UnavailableError: a large file moves too slowly: " + key + ", " + (now - before)
                  + " bytes in " + pace.windowMs + " ms, not " + pace.bytesMin
                  + " (does this machine reach the store, and is the store overloaded?)");
        }
        before = now;
      }
    }
  }

  /** What to close when the attempt is given up. */
  void uses(HttpURLConnection connection) {
    request = connection;
  }

  /** Bytes were sent. */
  void sent(int count) throws IOException {
    synchronized (this) {
      requireWanted();
    }
    moved.addAndGet(count);
  }

  /** Bytes were received: keep them, unless the caller has gone on without this attempt. */
  void received(byte[] bytes, int count, OutputStream out) throws IOException {
    synchronized (this) {
      requireWanted();
      out.write(bytes, 0, count);
    }
    moved.addAndGet(count);
  }

  private void requireWanted() throws IOException {
    if (abandoned) {
      throw new UnavailableException("UnavailableError: a transfer was given up: " + key);
    }
  }

  /** On a thread of its own: closing a connection can block behind a write that is blocked. */
  private void abandon() {
    synchronized (this) {
      abandoned = true;
    }
    HttpURLConnection connection = request;
    if (connection != null) {
      Thread closing = new Thread(connection::disconnect, "holdfast-transfer-close");
      closing.setDaemon(true);
      closing.start();
    }
  }

  private static IOException cause(ExecutionException failed) {
    Throwable cause = failed.getCause();
    if (cause instanceof Error) {
      throw (Error) cause;
    }
    return cause instanceof IOException
        ? (IOException) cause
        : new HoldfastException("BridgeError: a transfer failed: " + cause, cause);
  }

  /** How many bytes must move in each period of time. */
  static final class Pace {
    static final Pace USUAL = new Pace(60_000, 1 << 20);

    final long windowMs;
    final long bytesMin;

    Pace(long windowMs, long bytesMin) {
      this.windowMs = windowMs;
      this.bytesMin = bytesMin;
    }
  }

  /** What an attempt does. */
  interface Work<T> {
    T run() throws IOException;
  }
}
