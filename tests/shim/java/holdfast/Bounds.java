package holdfast;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;

/** What executors may cost the driver, at each limit and one beyond it; no Spark runs. */
final class Bounds {
  private static final Location ROOT = new Location("", "orders");

  private final FakePython python = new FakePython();
  private final Driver driver = new Driver(new Configuration(false), new MetricRegistry());
  private final ExecutorRequests requests = new ExecutorRequests(driver);
  private final Query query;
  private long nonce;

  private Bounds() throws IOException {
    PythonCalls calls = new PythonCalls(python, "secret");
    driver.attach(new Driver.Side(calls, 1 << 28, 1 << 20, 3_600_000, 0));
    query = FakeStreamingQueryManager.start(driver);
  }

  public static void main(String[] arguments) throws Exception {
    new Bounds().fileThroughTheDriver();
    new Bounds().messageWithoutAFile();
    new Bounds().listing();
    new Bounds().uploads();
    replies();
    replyBytes();
    threads();
    new Bounds().pythonThatHangs();
    new Bounds().pythonThatEndsByAnError();
    for (String size : arguments) {
      long bytes = Long.parseLong(size);
      say("parts of " + size, Parts.count(bytes) + " " + Parts.end(0, bytes));
    }
    System.exit(0);
  }

  private void fileThroughTheDriver() throws IOException {
    int empty = published(0).length;
    int limit = (int) (Limits.MESSAGE_BYTES_MAX + Limits.DRIVER_FILE_BYTES_MAX);
    say("a file at the limit", told(published(limit - empty)));
    say("a file beyond the limit", told(published(limit - empty + 1)));
  }

  private byte[] published(int bytes) {
    Wire.Out out = message(Wire.PUBLISH, "state/0/0/1.delta").number(query.writer);
    return out.flag(true).flag(true).body(new byte[bytes], bytes).done();
  }

  private void messageWithoutAFile() throws IOException {
    byte[] message = message(Wire.STAT, "state").done();
    say("a message at the limit", told(Arrays.copyOf(message, Limits.MESSAGE_BYTES_MAX)));
    say("a message beyond the limit", told(Arrays.copyOf(message, Limits.MESSAGE_BYTES_MAX + 1)));
  }

  /** Each name of 235 characters takes 256 bytes of the answer, which begins with 17. */
  private void listing() throws IOException {
    int count = (Limits.LISTING_BYTES_MAX - 17) / 256;
    for (int file = 0; file < count; file++) {
      show(String.format("%0235d", file));
    }
    int rest = Limits.LISTING_BYTES_MAX - 17 - 256 * count - 21;
    show(String.format("%0" + rest + "d", 0));
    say("a listing at the limit", told(message(Wire.LIST, "state/0/0").done()));
    show("x");
    say("a listing beyond the limit", told(message(Wire.LIST, "state/0/0").done()));
  }

  private void show(String name) throws IOException {
    query.publish("state/0/0/" + name, Content.small(new byte[0], 0), true, query.writer);
  }

  private void uploads() throws IOException {
    Ticket ticket = null;
    for (int upload = 0; upload < Limits.UPLOADS_MAX; upload++) {
      ticket = query.sign(2 << 20, "hash", "", query.writer);
    }
    Wire.Out signed = message(Wire.SIGN, "state/0/0/1.zip").number(query.writer).number(2 << 20);
    byte[] message = signed.text("hash").text("").done();
    say("an upload beyond the limit", told(message));
    Content object = Content.object(ticket.key, ticket.size, ticket.sha256, 0);
    query.publish("state/0/0/1.zip", object, true, query.writer);
    message[1] ^= 1; // another nonce
    say("an upload after one was published", told(message));
  }

  private static void replies() throws IOException {
    Deferred deferred = new Deferred(3, Long.MAX_VALUE);
    CountDownLatch never = new CountDownLatch(1);
    for (long each = 1; each <= 3; each++) {
      say("reply " + each, kind(deferred.answer(each, waiting(never))));
    }
    try {
      deferred.answer(4, waiting(never));
    } catch (HoldfastException refused) {
      say("a reply beyond the limit", refused.getMessage());
    }
  }

  /** While too many bytes wait to be fetched, no further answer is prepared. */
  private static void replyBytes() throws Exception {
    Deferred deferred = new Deferred(100, 10);
    CountDownLatch asked = new CountDownLatch(1);
    deferred.answer(
        1,
        () -> {
          asked.await();
          return new byte[11];
        });
    asked.countDown();
    Thread.sleep(200);
    AtomicBoolean begun = new AtomicBoolean();
    Callable<byte[]> second =
        () -> {
          begun.set(true);
          return Answers.done();
        };
    String while11 = kind(deferred.answer(2, second)) + (begun.get() ? " begun" : " not begun");
    say("a reply while too many bytes wait", while11);
    say("the reply that waited", deferred.answer(1, second).length + " bytes");
    say("the next reply", fetched(deferred, 2, second));
  }

  /** Nothing is kept for who finds all threads busy. */
  private static void threads() throws Exception {
    Deferred deferred = new Deferred(17, Long.MAX_VALUE);
    CountDownLatch busy = new CountDownLatch(1);
    for (long each = 1; each <= 16; each++) {
      deferred.answer(each, waiting(busy));
    }
    for (long each = 100; each < 200; each++) {
      deferred.answer(each, Answers::done);
    }
    say("a request while all threads work", kind(deferred.answer(200, Answers::done)));
    busy.countDown();
    say("the same request later", fetched(deferred, 200, Answers::done));
    deferred.close();
    try {
      deferred.answer(201, Answers::done);
    } catch (HoldfastException refused) {
      say("a request after the end", refused.getMessage());
    }
  }

  /** The thread that serves all executors goes on. */
  private void pythonThatHangs() throws IOException {
    python.signing = new CountDownLatch(1);
    int again = 0;
    for (int each = 0; each < 40; each++) {
      Wire.Out out = message(Wire.SIGN, "state/0/0/1.zip").number(query.writer).number(2 << 20);
      again += requests.answer(out.text("hash").text("").done())[0] == Wire.AGAIN ? 1 : 0;
    }
    say("answered while Python hangs", again + " of 40");
    python.signing.countDown();
  }

  private void pythonThatEndsByAnError() throws IOException {
    python.failing = true;
    Wire.Out out = message(Wire.SIGN, "state/0/0/1.zip").number(query.writer).number(2 << 20);
    say("an Error behind a message", told(out.text("hash").text("").done()));
    say("a message of another class", new Wire.In(requests.answer("text")).octet() + "");
  }

  private Wire.Out message(byte kind, String path) {
    Wire.Out out = new Wire.Out().octet(Wire.VERSION).number(++nonce).flag(false).octet(kind);
    return out.text("").text(ROOT.child(path).path);
  }

  /** "ok", or the text of the error; asked for until it is there. */
  private String told(byte[] message) throws IOException {
    while (true) {
      Wire.In in = new Wire.In(requests.answer(message));
      byte kind = in.octet();
      if (kind != Wire.AGAIN) {
        return kind == Wire.OK ? "ok" : in.text();
      }
      Thread.yield();
    }
  }

  private static String fetched(Deferred deferred, long nonce, Callable<byte[]> work)
      throws IOException {
    byte[] answer = deferred.answer(nonce, work);
    while (answer[0] == Wire.AGAIN) {
      Thread.yield();
      answer = deferred.answer(nonce, work);
    }
    return kind(answer);
  }

  private static Callable<byte[]> waiting(CountDownLatch latch) {
    return () -> {
      latch.await();
      return Answers.done();
    };
  }

  private static String kind(byte[] answer) {
    return answer[0] == Wire.AGAIN ? "ask again" : answer[0] == Wire.OK ? "ok" : "error";
  }

  private static void say(String what, String outcome) {
    System.out.println(what + ": " + outcome);
  }
}
