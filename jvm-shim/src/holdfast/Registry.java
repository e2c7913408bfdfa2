package holdfast;

import java.io.IOException;
import java.security.SecureRandom;

/**
 * The one piece of static state: how this process reaches the files, set by the plugin.
 *
 * <p>Looked up at every call and never kept: Hadoop caches filesystems beyond a Spark context.
 */
final class Registry {
  static final Drafts DRAFTS = new Drafts();

  private static final SecureRandom RANDOM = new SecureRandom();

  private static volatile Driver driver;
  private static volatile Executor executor;
  private static volatile ExecutorRequests requests;

  private Registry() {}

  static void set(Driver now) {
    driver = now;
  }

  static Driver driver() {
    return driver;
  }

  static void set(ExecutorRequests now) {
    requests = now;
  }

  static ExecutorRequests requests() {
    return requests;
  }

  static void set(Executor now) {
    executor = now;
  }

  /** A number for a start: positive, and not to be guessed by the tasks of other queries. */
  static long nextWriter() {
    long number = 0;
    while (number == 0) {
      number = RANDOM.nextLong() & Long.MAX_VALUE;
    }
    return number;
  }

  static Namespace names() throws IOException {
    Driver now = driver;
    if (now != null) {
      return now;
    }
    Executor remote = executor;
    if (remote != null) {
      return remote;
    }
    throw new HoldfastException(
        "BridgeError: the Holdfast plugin is not loaded in this process"
            + " (start with spark.plugins=holdfast.HoldfastPlugin; holdfast.configure sets it)");
  }
}
