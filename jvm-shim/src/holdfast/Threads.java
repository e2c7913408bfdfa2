package holdfast;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Field;
import org.apache.spark.TaskContext;

/** Who is calling: Spark tells its threads apart by name, and so do we. */
final class Threads {
  private static final String STREAM = "stream execution thread for ";
  private static final String MAINTENANCE = "state-store-maintenance";
  private static final String MANAGER = "StreamingQueryManager";

  private Threads() {}

  /** The thread on which a query's micro-batches run. */
  static boolean isStream(Thread thread) {
    return thread.getName().startsWith(STREAM);
  }

  static boolean isTask() {
    return TaskContext.get() != null;
  }

  /** Whether this thread keeps the state stores of running queries in order. */
  static boolean isMaintenance() {
    return Thread.currentThread().getName().startsWith(MAINTENANCE);
  }

  /** Whether a run of the query with this id is alive. */
  static boolean runs(String queryId) {
    for (Thread thread : all()) {
      if (thread != null && isStream(thread) && thread.getName().contains("id = " + queryId)) {
        return true;
      }
    }
    return false;
  }

  /** Whether this thread is inside a query's start. */
  static boolean isStarting(Thread thread) {
    if (thread == null || !thread.isAlive()) {
      return false;
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().endsWith(MANAGER)) {
        return true;
      }
    }
    return false;
  }

  /**
   * What Spark runs on a stream thread: the execution's class and its trigger's. Both are "" where
   * this Spark keeps them elsewhere; then only the order of the gates tells.
   */
  static String[] execution(Thread stream) {
    try {
      Field outer = stream.getClass().getDeclaredField("$outer");
      outer.setAccessible(true);
      Object execution = outer.get(stream);
      Object trigger = execution.getClass().getMethod("trigger").invoke(execution);
      return new String[] {
        execution.getClass().getSimpleName(), trigger.getClass().getSimpleName()
      };
    } catch (ReflectiveOperationException | RuntimeException absent) {
      Log.info("this Spark does not tell how it executes a query: " + absent);
      return new String[] {"", ""};
    }
  }

  /** Wait before something is tried again. */
  static void pause(long milliseconds) throws IOException {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted before a transfer was tried again");
    }
  }

  private static Thread[] all() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    Thread[] threads = new Thread[group.activeCount() * 2 + 16];
    group.enumerate(threads, true);
    return threads;
  }
}
