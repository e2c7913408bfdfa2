package holdfast;

import com.codahale.metrics.MetricRegistry;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.plugin.PluginContext;

/** Schedules that only threads at the wrong moment bring about, one after the other; no Spark runs. */
final class Schedules {
  private static final Location ROOT = new Location("", "orders");
  private static final String DELTA = "state/0/0/1.delta";

  private final FakePython python = new FakePython();
  private final Driver driver = new Driver(new Configuration(false), new MetricRegistry());

  private Schedules() {
    driver.attach(new Driver.Side(python, 1 << 28, 1 << 20, 0));
  }

  public static void main(String[] arguments) throws Exception {
    say("a gate that ends by an Error", new Schedules().gateThatEndsByAnError());
    say("a draft that was swept", new Schedules().draftThatWasSwept());
    say("two starts on one thread", new Schedules().twoStartsOnOneThread());
    say("a reader slower than a start", new Schedules().readerSlowerThanAStart());
    say("an attempt that was replaced", new Schedules().attemptThatWasReplaced());
    System.exit(0);
  }

  /** What was told to Python is lost, so the claim must not go on. */
  private String gateThatEndsByAnError() throws Exception {
    Query query = FakeStreamingQueryManager.start(driver);
    query.publish("offsets/0", content("v1"), false, query.writer);
    query.publish(DELTA, content("state"), true, query.writer);
    python.failing = true;
    try {
      query.publish("commits/0", content("v1"), false, query.writer);
    } catch (OutOfMemoryError expected) {
      return query.isRefused() ? "refused" : "goes on";
    }
    return "no error";
  }

  /** The thread that renames has taken it, and another one forgets what is old. */
  private String draftThatWasSwept() throws Exception {
    Query query = FakeStreamingQueryManager.start(driver);
    Draft draft = new Draft(1 << 20);
    draft.write("state".getBytes(StandardCharsets.UTF_8));
    draft.close();
    draft.discard();
    try {
      draft.publish(driver, query.root.child(DELTA), true, query.writer);
    } catch (HoldfastException expected) {
      return query.stat(DELTA) == null ? "refused" : "shown";
    }
    return "published";
  }

  /** Spark refused the first after it had claimed: the chain may have moved since. */
  private String twoStartsOnOneThread() throws Exception {
    long first = FakeStreamingQueryManager.start(driver).claim;
    return FakeStreamingQueryManager.start(driver).claim > first ? "claimed anew" : "shared";
  }

  /** A view that was asked for before a claim, and is answered after it. */
  private String readerSlowerThanAStart() throws Exception {
    python.asked = new CountDownLatch(1);
    python.answered = new CountDownLatch(1);
    Thread reader =
        new Thread(
            () -> {
              try {
                driver.list(ROOT.child("offsets"));
              } catch (IOException error) {
                throw new IllegalStateException(error);
              }
            });
    reader.start();
    python.asked.await();
    Query claimed = FakeStreamingQueryManager.start(driver);
    python.answered.countDown();
    reader.join();
    return claimed.isRefused() || driver.inMemory(ROOT) != claimed ? "replaced" : "stays";
  }

  /** An executor lists a batch that runs; then another attempt writes the file that is committed. */
  private String attemptThatWasReplaced() throws Exception {
    Query query = FakeStreamingQueryManager.start(driver);
    Executor executor = new Executor(contextOf(new Desk(driver)));
    query.publish("offsets/0", content("v1"), false, query.writer);
    query.publish(DELTA, content("attempt A"), true, query.writer);
    executor.list(ROOT.child("state/0/0"));
    query.publish(DELTA, content("attempt B"), true, query.writer);
    query.publish("commits/0", content("v1"), false, query.writer);
    byte[] read = executor.open(ROOT.child(DELTA), query.writer).bytes;
    return new String(read, StandardCharsets.UTF_8);
  }

  private static PluginContext contextOf(Desk desk) {
    return (PluginContext)
        Proxy.newProxyInstance(
            Schedules.class.getClassLoader(),
            new Class<?>[] {PluginContext.class},
            (proxy, method, values) ->
                method.getName().equals("ask") ? desk.answer(values[0]) : null);
  }

  private static Content content(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return Content.small(bytes, bytes.length);
  }

  private static void say(String schedule, String outcome) {
    System.out.println(schedule + ": " + outcome);
  }

  /** On the stack of a start, as Spark's own class of such a name is. */
  private static final class FakeStreamingQueryManager {
    static Query start(Driver driver) throws IOException {
      driver.mkdirs(ROOT, 0);
      return driver.inMemory(ROOT);
    }
  }

  /** Says yes to everything, and counts claims. */
  private static final class FakePython implements PythonSide {
    volatile boolean failing;
    volatile CountDownLatch asked;
    volatile CountDownLatch answered;
    private long claim = 10;
    private long views;

    @Override
    public String recover(String store, String path, boolean start, long known) {
      try {
        File directory = Files.createTempDirectory("holdfast-schedules-").toFile();
        Files.write(new File(directory, "catalog").toPath(), new byte[0]);
        String number = start ? "" + ++claim : "-" + ++views;
        if (!start && asked != null) {
          asked.countDown();
          answered.await();
        }
        return "ok\norders\n" + number + "\n1\n" + directory + "\ncatalog\n\ntext";
      } catch (IOException | InterruptedException error) {
        throw new IllegalStateException(error);
      }
    }

    @Override
    public String begin(String query, long by, String execution, String trigger, String thread) {
      return "ok";
    }

    @Override
    public String intent(String query, long by, long batch, String journal) {
      return "ok";
    }

    @Override
    public String commit(String query, long by, long batch, String journal) {
      if (failing) {
        throw new OutOfMemoryError("on purpose");
      }
      return "ok\ntext\ncheckpoint=1";
    }

    @Override
    public String fetch(String query, long by, String path, String known) {
      return "error\nnone";
    }

    @Override
    public String sign(String query, long by, long size, String hashes, String begun) {
      return "error\nnone";
    }

    @Override
    public String finish(String query, long by, String key, String etags) {
      return "error\nnone";
    }

    @Override
    public String end(String query, long by) {
      return "ok\ntext";
    }
  }
}
