package holdfast;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Answers that take longer than a look into memory. Each is prepared once, on a thread of its own,
 * and fetched by the executor, which asks again with the same nonce.
 *
 * <p>There is no queue: while all threads are busy, or too many bytes wait to be fetched, an
 * executor is told to ask again, and nothing is kept for it.
 */
final class Deferred {
  private static final int THREADS = 16;
  private static final long KEEP_MS = 120_000;

  private final Map<Long, Held> held = 
      new LinkedHashMap<>(16, 0.75f, true); // what was asked for longest ago comes first
  private final AtomicLong bytes = new AtomicLong();
  private final ThreadPoolExecutor threads;
  private final int repliesMax;
  private final long bytesMax;

  Deferred() {
    this(Limits.REPLIES_MAX, Limits.REPLY_BYTES_MAX);
  }

  Deferred(int repliesMax, long bytesMax) {
    this.repliesMax = repliesMax;
    this.bytesMax = bytesMax;
    threads =
        new ThreadPoolExecutor(
            THREADS, THREADS, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), Deferred::thread);
    threads.allowCoreThreadTimeOut(true);
  }

  /** The answer if it is ready, else "ask again"; never waits. */
  synchronized byte[] answer(long nonce, Callable<byte[]> work) throws IOException {
    Held begun = held.get(nonce);
    if (begun == null) {
      begun = begin(nonce, work);
    }
    if (begun == null) {
      return Answers.askAgain();
    }
    begun.askedNs = System.nanoTime();
    if (!begun.task.isDone()) {
      return Answers.askAgain();
    }
    held.remove(nonce).release();
    try {
      return begun.task.get();
    } catch (InterruptedException | ExecutionException error) {
      Log.warn("an answer to an executor failed", error);
      return Answers.error("BridgeError: an answer to an executor failed: " + error.getCause());
    }
  }

  void close() {
    threads.shutdownNow();
  }

  /** Start the work; null where it must wait for a thread, or for others to be fetched. */
  private Held begin(long nonce, Callable<byte[]> work) throws IOException {
    forgetOld();
    Limits.require("answers that executors have not fetched", held.size() + 1, repliesMax);
    if (bytes.get() > bytesMax) {
      return null;
    }
    Held made = new Held(work, bytes);
    try {
      threads.execute(made.task);
    } catch (RejectedExecutionException busy) {
      if (threads.isShutdown()) {
        throw new HoldfastException("MisuseError: the Spark context was stopped");
      }
      return null;
    }
    held.put(nonce, made);
    return made;
  }

  /** Of executors that died before they asked again. */
  private void forgetOld() {
    long oldest = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(KEEP_MS);
    Iterator<Held> all = held.values().iterator();
    while (all.hasNext()) {
      Held first = all.next();
      if (first.askedNs - oldest > 0) {
        return;
      }
      all.remove();
      first.release();
    }
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "holdfast-executor-requests");
    thread.setDaemon(true);
    return thread;
  }

  /** One answer, and its share of the bytes that are held. */
  private static final class Held {
    final FutureTask<byte[]> task;
    long askedNs;
    private final AtomicLong total;
    private int size;
    private boolean released;

    Held(Callable<byte[]> work, AtomicLong total) {
      this.total = total;
      task =
          new FutureTask<>(
              () -> {
                byte[] answer = work.call();
                count(answer.length);
                return answer;
              });
    }

    private synchronized void count(int bytes) {
      if (!released) {
        size = bytes;
        total.addAndGet(bytes);
      }
    }

    synchronized void release() {
      released = true;
      total.addAndGet(-size);
    }
  }
}
