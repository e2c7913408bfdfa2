package holdfast;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Answers the executors' messages in the driver.
 *
 * <p>Spark calls it on the one thread that serves all executors. So it answers from memory and the
 * spool; what needs Python or the store runs on another thread and is answered "ask again". It
 * never throws and never waits.
 *
 * <p>Executors read any file of a query that this driver has opened: Spark's state readers look at
 * {@code state}, {@code offsets} and {@code commits} in tasks. They write only below {@code
 * state/}, each message within {@link Limits}.
 */
final class ExecutorRequests {
  private final Driver driver;
  private final Deferred deferred = new Deferred();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  ExecutorRequests(Driver driver) {
    this.driver = driver;
  }

  /** Whatever is wrong, an Error included, is the answer: Spark drops what this throws. */
  byte[] answer(Object message) {
    try {
      if (!(message instanceof byte[])) {
        return Answers.error("BridgeError: a message is not of Holdfast");
      }
      return answered((byte[]) message);
    } catch (IOException refused) {
      return Answers.error(refused);
    } catch (Throwable defect) {
      Log.warn("an executor's message failed", defect);
      return Answers.error("BridgeError: an executor's message failed: " + defect);
    }
  }

  /** How many messages of each kind came, repeated ones included. */
  Map<String, Long> counts() {
    return new TreeMap<>(counts);
  }

  void close() {
    deferred.close();
  }

  private byte[] answered(byte[] message) throws IOException {
    Wire.In in = new Wire.In(message);
    byte version = in.octet();
    if (version != Wire.VERSION) {
      return Answers.error(
          "BridgeError: an executor speaks version " + version + " of Holdfast's messages");
    }
    long nonce = in.number();
    boolean maintains = in.flag();
    byte kind = in.octet();
    counts.merge(Wire.name(kind), 1L, Long::sum);
    requireSize(kind, message.length);
    if (kind == Wire.SETTINGS) {
      in.end();
      return Answers.number(driver.largeBytes());
    }
    Location at = Location.told(in.text(), in.text());
    Query query = driver.inMemory(at);
    if (query == null && maintains) {
      return Answers.absent(); // its run has ended
    }
    if (query == null) {
      return Answers.error("MisuseError: this driver has not opened the query at " + at);
    }
    return answered(query, kind, at, in, nonce);
  }

  private void requireSize(byte kind, int length) throws IOException {
    long file = kind == Wire.PUBLISH ? Limits.driverFileBytes(driver.largeBytes()) : 0;
    Limits.require("bytes of a message", length, Limits.MESSAGE_BYTES_MAX + file);
  }

  private byte[] answered(Query query, byte kind, Location at, Wire.In in, long nonce)
      throws IOException {
    String path = at.below(query.root.path);
    switch (kind) {
      case Wire.STAT:
        in.end();
        return Answers.entry(query.stat(path));
      case Wire.LIST:
        in.end();
        return list(query, path, nonce);
      case Wire.OPEN:
        in.end();
        return open(query, path, nonce);
      case Wire.LOADED:
        return loaded(query, Location.requireState(path), in);
      case Wire.MKDIRS:
        return mkdirs(query, Location.requireState(path), in);
      case Wire.PUBLISH:
        return publish(query, Location.requireState(path), in);
      case Wire.RENAME:
        return rename(query, Location.requireState(path), at, in, nonce);
      case Wire.DELETE:
        return delete(query, Location.requireState(path), in);
      case Wire.SIGN:
        Location.requireState(path);
        return sign(query, in, nonce);
      case Wire.FINISH:
        Location.requireState(path);
        return finish(query, in, nonce);
      default:
        return Answers.error("BridgeError: this driver does not know the message kind " + kind);
    }
  }

  /** Where the newest state is only on the store, it is fetched first. */
  private byte[] list(Query query, String path, long nonce) throws IOException {
    if (query.reading.isNear(path)) {
      return Answers.listing(query, path);
    }
    return later(
        nonce,
        () -> {
          query.reading.hydrate(path);
          return Answers.listing(query, path);
        });
  }

  /** From the query as the task saw it: whether it is current is checked where a job begins. */
  private byte[] open(Query query, String path, long nonce) throws IOException {
    byte[] bytes = query.reading.local(path);
    return bytes != null
        ? Answers.bytes(bytes)
        : later(nonce, () -> Answers.source(query.reading.open(path)));
  }

  private static byte[] loaded(Query query, String path, Wire.In in) throws IOException {
    long version = in.number();
    long milliseconds = in.number();
    in.end();
    query.loaded(path, version, milliseconds);
    return Answers.done();
  }

  /** A reader of state makes its directory, too, in a view; that needs no start. */
  private static byte[] mkdirs(Query query, String path, Wire.In in) throws IOException {
    long writer = query.isClaim() ? requireWriter(in.number()) : in.number();
    in.end();
    query.mkdirs(path, writer);
    return Answers.done();
  }

  private static byte[] publish(Query query, String path, Wire.In in) throws IOException {
    long writer = requireWriter(in.number());
    boolean overwrite = in.flag();
    boolean small = in.flag();
    Content content;
    if (small) {
      byte[] bytes = in.body();
      content = Content.small(bytes, bytes.length);
    } else {
      content = Content.object(in.text(), in.number(), in.text(), in.number());
      if (content.crc32 >>> 32 != 0) {
        return Answers.error("BridgeError: a large file has an invalid CRC-32: " + path);
      }
    }
    in.end();
    query.publish(path, content, overwrite, writer);
    return Answers.done();
  }

  /** Both names are relative to the store, as the executor knows them. */
  private byte[] rename(Query query, String path, Location at, Wire.In in, long nonce)
      throws IOException {
    Location target = at.in(Location.told(in.text()));
    boolean overwrite = in.flag();
    long writer = requireWriter(in.number());
    in.end();
    if (driver.inMemory(target) != query) {
      return Answers.error("MisuseError: a file stays in its query: " + at + " to " + target);
    }
    String to = Location.requireState(target.below(query.root.path));
    return later(
        nonce,
        () -> {
          query.rename(path, to, overwrite, writer); // may need a file from the store
          return Answers.done();
        });
  }

  private static byte[] delete(Query query, String path, Wire.In in) throws IOException {
    boolean recursive = in.flag();
    long writer = requireWriter(in.number());
    in.end();
    return query.delete(path, recursive, writer) ? Answers.done() : Answers.absent();
  }

  private byte[] sign(Query query, Wire.In in, long nonce) throws IOException {
    long writer = requireWriter(in.number());
    long size = in.number();
    String sha256s = in.text();
    String begun = in.text();
    in.end();
    return later(nonce, () -> Answers.ticket(query.sign(size, sha256s, begun, writer)));
  }

  private byte[] finish(Query query, Wire.In in, long nonce) throws IOException {
    long writer = requireWriter(in.number());
    String key = in.text();
    String etags = in.text();
    in.end();
    return later(
        nonce,
        () -> {
          query.finish(key, etags, writer);
          return Answers.done();
        });
  }

  /** What needs Python or the store runs on a thread of its own. */
  private byte[] later(long nonce, Callable<byte[]> work) throws IOException {
    return deferred.answer(
        nonce,
        () -> {
          try {
            return work.call();
          } catch (IOException refused) {
            return Answers.error(refused);
          }
        });
  }

  /** An executor that does not say which start it belongs to is refused. */
  private static long requireWriter(long writer) throws IOException {
    if (writer == 0) {
      throw new HoldfastException(
          "FencedError: an executor writes for no start that this driver knows");
    }
    return writer;
  }
}
