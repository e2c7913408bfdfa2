package holdfast;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Answers that take longer than a look into memory: begun once, asked for again by their nonce. */
final class Deferred {
  private static final int THREADS = 16;
  private static final int HELD_MAX = 20_000;
  private static final long KEEP_MS = 600_000;
  private static final long BYTES_MAX = 256L << 20;

  private final Map<Long, Held> held = new ConcurrentHashMap<>();
  private final ThreadPoolExecutor threads;

  Deferred() {
    threads =
        new ThreadPoolExecutor(
            THREADS, THREADS, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Deferred::thread);
    threads.allowCoreThreadTimeOut(true);
  }

  /** The answer, if it is there by now; else "ask again". */
  byte[] answer(long nonce, Callable<byte[]> work) {
    Held begun = held.get(nonce);
    if (begun == null) {
      forgetOld();
      if (held.size() >= HELD_MAX) {
        return Desk.failed("UnavailableError: too many answers wait to be fetched by executors");
      }
      begun = new Held(work);
      held.put(nonce, begun);
      threads.execute(begun.task);
    }
    if (!begun.task.isDone()) {
      return new Wire.Out().octet(Wire.AGAIN).done();
    }
    held.remove(nonce);
    try {
      return begun.task.get();
    } catch (InterruptedException | ExecutionException error) {
      return Desk.failed("BridgeError: " + error.getMessage());
    }
  }

  void close() {
    threads.shutdownNow();
  }

  /** Whether the answers that wait take so much memory that the next ones should be short. */
  boolean isCrowded() {
    long bytes = 0;
    for (Held each : held.values()) {
      bytes += each.bytes;
    }
    return bytes > BYTES_MAX;
  }

  /** Of executors that died before they asked again. */
  private void forgetOld() {
    long oldest = System.currentTimeMillis() - KEEP_MS;
    held.values().removeIf(each -> each.sinceMs < oldest);
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "holdfast-desk");
    thread.setDaemon(true);
    return thread;
  }

  private static final class Held {
    final FutureTask<byte[]> task;
    final long sinceMs = System.currentTimeMillis();
    volatile int bytes;

    Held(Callable<byte[]> work) {
      task =
          new FutureTask<>(
              () -> {
                byte[] answer = work.call();
                bytes = answer.length;
                return answer;
              });
    }
  }
}
