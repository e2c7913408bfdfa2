package bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;

/**
 * One batch with much state: as Spark's checkpoint manager would write it, without Spark's own work.
 *
 * <p>Called by the bench over py4j; Python answers the gates on another thread meanwhile.
 */
public final class LargeCommit {
  private static final String LOG = "v1\n{}\n";
  private static final int SAMPLE_MS = 20;

  private LargeCommit() {}

  /** Start the query: a claim. */
  public static void start(Configuration conf, String root) throws IOException {
    Path path = new Path(root);
    path.getFileSystem(conf).mkdirs(path);
  }

  /** Write the state of one batch, commit it, and return the commit's nanoseconds. */
  public static long timed(Configuration conf, String root, long batch, int files, int bytes)
      throws IOException {
    FileContext context = FileContext.getFileContext(new Path(root).toUri(), conf);
    writeState(context, root, batch, files, bytes);
    long started = System.nanoTime();
    commit(context, root, batch);
    return System.nanoTime() - started;
  }

  /**
   * The same, and return how many bytes of heap were needed at most beyond those before the batch.
   * It takes longer, since the only way to know what is needed is to collect what is not.
   */
  public static long watched(Configuration conf, String root, long batch, int files, int bytes)
      throws IOException, InterruptedException {
    FileContext context = FileContext.getFileContext(new Path(root).toUri(), conf);
    long before = live();
    writeState(context, root, batch, files, bytes);
    AtomicLong highest = new AtomicLong(live());
    Thread watch = watching(highest);
    commit(context, root, batch);
    watch.interrupt();
    watch.join();
    return Math.max(0, highest.get() - before);
  }

  /** The plan of the first batch, whose state executors write. */
  public static void plan(Configuration conf, String root) throws IOException {
    FileContext context = FileContext.getFileContext(new Path(root).toUri(), conf);
    publish(context, new Path(root, "offsets/0"), LOG.getBytes(StandardCharsets.UTF_8));
  }

  /** Commit the first batch; returns nanoseconds. */
  public static long commit(Configuration conf, String root) throws IOException {
    FileContext context = FileContext.getFileContext(new Path(root).toUri(), conf);
    long started = System.nanoTime();
    commit(context, root, 0);
    return System.nanoTime() - started;
  }

  private static void writeState(
      FileContext context, String root, long batch, int files, int bytes) throws IOException {
    publish(context, new Path(root, "offsets/" + batch), LOG.getBytes(StandardCharsets.UTF_8));
    byte[] state = new byte[bytes];
    Random random = new Random(batch);
    for (int partition = 0; partition < files; partition++) {
      random.nextBytes(state);
      String name = "state/0/" + partition + "/" + (batch + 1) + ".delta";
      publish(context, new Path(root, name), state);
    }
  }

  private static void commit(FileContext context, String root, long batch) throws IOException {
    publish(context, new Path(root, "commits/" + batch), LOG.getBytes(StandardCharsets.UTF_8));
  }

  private static void publish(FileContext context, Path path, byte[] bytes) throws IOException {
    Path temporary =
        new Path(path.getParent(), "." + path.getName() + "." + UUID.randomUUID() + ".tmp");
    try (FSDataOutputStream out =
        context.create(temporary, EnumSet.of(CreateFlag.CREATE), CreateOpts.createParent())) {
      out.write(bytes);
    }
    context.rename(temporary, path, Rename.NONE);
  }

  private static Thread watching(AtomicLong highest) {
    Thread watch =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                highest.accumulateAndGet(live(), Math::max);
                try {
                  Thread.sleep(SAMPLE_MS);
                } catch (InterruptedException done) {
                  return;
                }
              }
            },
            "bench-heap");
    watch.setDaemon(true);
    watch.start();
    return watch;
  }

  /** Bytes of this JVM's heap that are still needed. */
  public static long live() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }
}
