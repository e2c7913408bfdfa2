package holdfast;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which runs use a query's claim: the start that made it, and the stream threads since. */
final class Run {
  private static final Pattern ID = Pattern.compile("\"id\"\\s*:\\s*\"([0-9a-fA-F-]{36})\"");
  private static final long RECHECK_MS = 200;

  private final Query query;
  private volatile Thread starter;
  private volatile boolean begun;
  private volatile Thread stream;
  private volatile String id;
  private volatile long aliveUntilMs;

  Run(Query query) {
    this.query = query;
  }

  /** A start uses this claim, on the calling thread. */
  void starts() {
    begun = false;
    starter = Thread.currentThread();
  }

  /** Whether a run uses it or a start is under way, as of a moment ago. */
  boolean isAlive() throws IOException {
    long now = System.currentTimeMillis();
    boolean recent = now < aliveUntilMs && now > aliveUntilMs - 2 * RECHECK_MS;
    if (!recent) {
      aliveUntilMs = isAliveNow() ? now + RECHECK_MS : 0;
    }
    return aliveUntilMs > 0;
  }

  /**
   * The same, by a look at all threads. A start is over once its stream thread was here: the thread
   * that made it may be inside another start by now.
   */
  boolean isAliveNow() throws IOException {
    return (!begun && Threads.isStarting(starter)) || runs();
  }

  /**
   * Whether a start on the calling thread may share the claim. Not because of an earlier start on
   * this very thread: that one failed before its stream thread came, and the chain may have moved.
   */
  boolean isShared() throws IOException {
    return starter == Thread.currentThread() ? runs() : isAliveNow();
  }

  /** Whether the calling thread is this query's stream thread, here for the first time. */
  boolean begins() throws IOException {
    Thread current = Thread.currentThread();
    if (current == stream || !Threads.isStream(current)) {
      return false;
    }
    String known = id();
    if (known == null || !current.getName().contains("id = " + known)) {
      return false;
    }
    stream = current;
    begun = true;
    return true;
  }

  /** Whether Spark knows the query by this id. */
  boolean isOf(String queryId) {
    return queryId.equals(id);
  }

  private boolean runs() throws IOException {
    String known = id();
    return known != null && Threads.runs(known);
  }

  /** Spark's id of the query, from the file that it writes first; null before that. */
  private String id() throws IOException {
    if (id == null && query.stat("metadata") != null) {
      byte[] bytes = query.reading.open("metadata").bytes;
      Matcher found = ID.matcher(bytes == null ? "" : new String(bytes, "UTF-8"));
      id = found.find() ? found.group(1) : null;
    }
    return id;
  }
}
