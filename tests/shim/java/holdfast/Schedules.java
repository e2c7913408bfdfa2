package holdfast;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.plugin.PluginContext;

/** Schedules that only threads at the wrong moment bring about, one after the other; no Spark runs. */
final class Schedules {
  private static final Location ROOT = new Location("", "orders");
  private static final String DELTA = "state/0/0/1.delta";

  private final FakePython python = new FakePython();
  private final Driver driver = new Driver(new Configuration(false), new MetricRegistry());

  private Schedules() {
    this(1 << 28, 3_600_000);
  }

  private Schedules(long spoolBytesMax, long permitMs) {
    PythonCalls calls = new PythonCalls(python, "secret");
    driver.attach(new Driver.Side(calls, spoolBytesMax, 1 << 20, permitMs, 0));
  }

  public static void main(String[] arguments) throws Exception {
    say("a gate that ends by an Error", new Schedules().gateThatEndsByAnError());
    say("a draft that was swept", new Schedules().draftThatWasSwept());
    say("two starts on one thread", new Schedules().twoStartsOnOneThread());
    say("a reader slower than a start", new Schedules().readerSlowerThanAStart());
    say("an attempt that was replaced", new Schedules().attemptThatWasReplaced());
    say("more state than the spool has room for", new Schedules(8 << 18, 0).moreThanThereIsRoomFor());
    say("a large file that came too late", new Schedules().largeFileTooLate());
    say("a large file whose attempt died", new Schedules(1 << 28, 0).largeFileOfTheDead());
    say("parts that were not put together", new Schedules().partsThatWereNotPutTogether());
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
    Executor executor = new Executor(contextOf(new ExecutorRequests(driver)));
    query.publish("offsets/0", content("v1"), false, query.writer);
    query.publish(DELTA, content("attempt A"), true, query.writer);
    executor.list(ROOT.child("state/0/0"));
    query.publish(DELTA, content("attempt B"), true, query.writer);
    query.publish("commits/0", content("v1"), false, query.writer);
    byte[] read = executor.open(ROOT.child(DELTA), query.writer).bytes;
    return new String(read, StandardCharsets.UTF_8);
  }

  /** Tasks of a restart fetch packs, and each one's room is what another has not read yet. */
  private String moreThanThereIsRoomFor() throws Exception {
    python.files = 64;
    Query query = FakeStreamingQueryManager.start(driver);
    AtomicInteger wrong = new AtomicInteger();
    List<Thread> tasks = new ArrayList<>();
    for (int task = 0; task < 16; task++) {
      Random dice = new Random(task);
      tasks.add(new Thread(() -> readSome(query, dice, wrong)));
    }
    for (Thread task : tasks) {
      task.start();
    }
    for (Thread task : tasks) {
      task.join();
    }
    return wrong.get() == 0 ? "all read" : wrong + " failed";
  }

  private static void readSome(Query query, Random dice, AtomicInteger wrong) {
    for (int read = 0; read < 60; read++) {
      int file = dice.nextInt(64);
      try {
        if (query.reading.open("state/" + file).bytes[0] != (byte) file) {
          wrong.incrementAndGet();
        }
      } catch (IOException error) {
        wrong.incrementAndGet();
      }
    }
  }

  /** The name is committed: what a slower attempt has uploaded is told as left behind. */
  private String largeFileTooLate() throws Exception {
    Query query = FakeStreamingQueryManager.start(driver);
    query.publish("offsets/0", content("v1"), false, query.writer);
    query.publish(DELTA, signed(query), true, query.writer);
    Content late = signed(query);
    query.publish("commits/0", content("v1"), false, query.writer);
    query.publish(DELTA, late, true, query.writer);
    query.publish("commits/1", content("v1"), false, query.writer);
    return told(late);
  }

  /** Uploaded and never published: told as left behind, and from then on it cannot be. */
  private String largeFileOfTheDead() throws Exception {
    Query query = FakeStreamingQueryManager.start(driver);
    Content lost = signed(query);
    query.publish("commits/0", content("v1"), false, query.writer);
    try {
      query.publish(DELTA, lost, true, query.writer);
    } catch (HoldfastException refused) {
      return told(lost);
    }
    return "published";
  }

  /** An object of parts exists only once they were finished. */
  private String partsThatWereNotPutTogether() throws Exception {
    Query query = FakeStreamingQueryManager.start(driver);
    python.kind = "parts";
    Content unfinished = signed(query);
    try {
      query.publish(DELTA, unfinished, true, query.writer);
      return "published";
    } catch (HoldfastException refused) {
      query.finish(unfinished.key, "", query.writer);
    }
    query.publish(DELTA, unfinished, true, query.writer);
    return "published when finished";
  }

  private Content signed(Query query) throws IOException {
    Ticket ticket = query.sign(2 << 20, "hash", "", query.writer);
    return Content.object(ticket.key, ticket.size, ticket.sha256, 0);
  }

  private String told(Content object) {
    return python.journal.contains("g\t" + object.key + "\n") ? "left behind" : "not told";
  }

  private static PluginContext contextOf(ExecutorRequests requests) {
    return (PluginContext)
        Proxy.newProxyInstance(
            Schedules.class.getClassLoader(),
            new Class<?>[] {PluginContext.class},
            (proxy, method, values) ->
                method.getName().equals("ask") ? requests.answer(values[0]) : null);
  }

  private static Content content(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return Content.small(bytes, bytes.length);
  }

  private static void say(String schedule, String outcome) {
    System.out.println(schedule + ": " + outcome);
  }
}
