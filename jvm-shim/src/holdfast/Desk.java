package holdfast;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * Answers the executors' messages in the driver.
 *
 * <p>Spark calls it on the one thread that serves all executors. So it answers from memory and the
 * spool; what needs Python is begun on another thread and answered "ask again". It never throws.
 */
final class Desk {
  private static final int HYDRATE_BYTES = 8 << 20;
  private static final Set<String> DRIVERS =
      new HashSet<>(Arrays.asList("offsets", "commits", "metadata"));

  private final Driver driver;
  private final Deferred deferred = new Deferred();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  Desk(Driver driver) {
    this.driver = driver;
  }

  byte[] answer(Object message) {
    try {
      if (!(message instanceof byte[])) {
        return failed("BridgeError: a message is not of Holdfast");
      }
      return answered((byte[]) message);
    } catch (IOException | RuntimeException error) {
      return refused(error);
    }
  }

  /** How many messages of each kind came, those that asked again included. */
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
      return failed("BridgeError: an executor speaks version " + version + " of Holdfast's messages");
    }
    long nonce = in.number();
    boolean maintains = in.flag();
    byte kind = in.octet();
    counts.merge(Wire.name(kind), 1L, Long::sum);
    if (kind == Wire.SETTINGS) {
      in.end();
      return new Wire.Out().octet(Wire.OK).number(driver.largeBytes()).done();
    }
    Location at = Location.told(in.text(), in.text());
    Query query = driver.inMemory(at);
    if (query == null && maintains) {
      return new Wire.Out().octet(Wire.ABSENT).done(); // its run has ended
    }
    if (query == null) {
      return failed("MisuseError: this driver has not opened the query at " + at);
    }
    if (kind == Wire.SIGN || kind == Wire.FINISH) {
      return later(nonce, () -> withPython(kind, at, in));
    }
    return fromMemory(query, kind, at, in, nonce);
  }

  /** A ticket is signed, or an upload finished. */
  private byte[] withPython(byte kind, Location at, Wire.In in) throws IOException {
    long writer = requireWriter(in.number());
    long size = kind == Wire.SIGN ? in.number() : 0;
    String first = in.text();
    String second = in.text();
    in.end();
    if (kind == Wire.SIGN) {
      return ticket(driver.sign(at, size, first, second, writer));
    }
    driver.finish(at, first, second, writer);
    return done();
  }

  /** What needs Python, or the store: on a thread of its own. */
  private byte[] later(long nonce, Callable<byte[]> work) {
    return deferred.answer(
        nonce,
        () -> {
          try {
            return work.call();
          } catch (Exception error) {
            return refused(error);
          }
        });
  }

  private byte[] fromMemory(Query query, byte kind, Location at, Wire.In in, long nonce)
      throws IOException {
    String path = at.below(query.root.path);
    switch (kind) {
      case Wire.STAT:
        in.end();
        return stat(query, path);
      case Wire.LIST:
        in.end();
        return listed(query, path, nonce);
      case Wire.LOADED:
        return loaded(query, path, in);
      case Wire.OPEN:
        in.end();
        return open(query, path, nonce);
      case Wire.MKDIRS:
        return mkdirs(query, path, in);
      case Wire.PUBLISH:
        return publish(query, path, in);
      case Wire.RENAME:
        return rename(query, path, at, in, nonce);
      case Wire.DELETE:
        return delete(query, path, in);
      default:
        return failed("BridgeError: an executor sent a message that this driver does not know");
    }
  }

  private static byte[] loaded(Query query, String path, Wire.In in) throws IOException {
    long version = in.number();
    long milliseconds = in.number();
    in.end();
    query.loaded(path, version, milliseconds);
    return done();
  }

  private static byte[] mkdirs(Query query, String path, Wire.In in) throws IOException {
    long writer = query.isClaim() ? requireWriter(in.number()) : in.number();
    in.end();
    query.mkdirs(path, writer);
    return done();
  }

  private static byte[] stat(Query query, String path) {
    Entry entry = query.stat(path);
    return entry == null
        ? new Wire.Out().octet(Wire.ABSENT).done()
        : new Wire.Out().octet(Wire.OK).entry(entry).done();
  }

  /** Where the newest state is only on the store, it is fetched first. */
  private byte[] listed(Query query, String path, long nonce) throws IOException {
    if (nonce == 0 || query.reading.isNear(path)) {
      return list(query, path, HYDRATE_BYTES);
    }
    return later(
        nonce,
        () -> {
          query.reading.hydrate(path);
          return list(query, path, deferred.isCrowded() ? 0 : HYDRATE_BYTES);
        });
  }

  /** A listing brings what the reader of a state store opens next: its newest state. */
  private static byte[] list(Query query, String path, int bytesMax) throws IOException {
    NavigableMap<String, Entry> found = query.list(path);
    if (found == null) {
      return new Wire.Out().octet(Wire.ABSENT).done();
    }
    Wire.Out out = new Wire.Out().octet(Wire.OK).number(query.writer).number(found.size());
    for (Map.Entry<String, Entry> each : found.entrySet()) {
      out.text(each.getKey()).entry(each.getValue());
    }
    for (String name : Hydration.wanted(path, found)) {
      // A batch that still runs may replace what an attempt wrote, so its files do not come along.
      boolean taken = out.size() < bytesMax && query.isSealed(found.get(name));
      byte[] bytes = taken ? found.get(name).local() : null;
      if (bytes != null) {
        out.text(name).body(bytes, bytes.length);
      }
    }
    return out.text("").done();
  }

  /** From the query as the task was shown it: what is current is asked where a job begins. */
  private byte[] open(Query query, String path, long nonce) throws IOException {
    byte[] bytes = query.reading.local(path);
    if (bytes != null) {
      return new Wire.Out().octet(Wire.OK).flag(true).body(bytes, bytes.length).done();
    }
    return later(
        nonce,
        () -> {
          Source source = query.reading.open(path);
          return source.ticket != null
              ? ticket(source.ticket)
              : new Wire.Out().octet(Wire.OK).flag(true).body(source.bytes, source.bytes.length).done();
        });
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
        return failed("BridgeError: a large file has a CRC-32 that is none: " + path);
      }
    }
    in.end();
    requireOpen(path);
    query.publish(path, content, overwrite, writer);
    return done();
  }

  /** Both names are told as the executor knows them: from the store on, not from the query on. */
  private byte[] rename(Query query, String path, Location at, Wire.In in, long nonce)
      throws IOException {
    Location target = at.in(Location.told(in.text()));
    boolean overwrite = in.flag();
    long writer = requireWriter(in.number());
    in.end();
    if (driver.inMemory(target) != query) {
      return failed("MisuseError: a file stays in its query: " + at + " to " + target);
    }
    String to = target.below(query.root.path);
    requireOpen(path);
    requireOpen(to);
    return later(
        nonce,
        () -> {
          query.rename(path, to, overwrite, writer); // may need a file from the store
          return done();
        });
  }

  private static byte[] delete(Query query, String path, Wire.In in) throws IOException {
    boolean recursive = in.flag();
    long writer = requireWriter(in.number());
    in.end();
    requireOpen(path);
    boolean was = query.delete(path, recursive, writer);
    return new Wire.Out().octet(was ? Wire.OK : Wire.ABSENT).done();
  }

  /** What says that a batch is planned or committed, and of which query, is the driver's alone. */
  private static void requireOpen(String path) throws IOException {
    String first = path.substring(0, (path + "/").indexOf('/'));
    if (DRIVERS.contains(first)) {
      throw new HoldfastException("BridgeError: an executor cannot plan or commit a batch: " + path);
    }
  }

  /** An executor that does not say which start it belongs to is refused. */
  private static long requireWriter(long writer) throws IOException {
    if (writer == 0) {
      throw new HoldfastException("FencedError: an executor writes for no start that is known here");
    }
    return writer;
  }

  private static byte[] ticket(Ticket ticket) {
    Wire.Out out = new Wire.Out().octet(Wire.OK).flag(false);
    out.number(ticket.lines().length);
    for (String line : ticket.lines()) {
      out.text(line);
    }
    return out.done();
  }

  private static byte[] done() {
    return new Wire.Out().octet(Wire.OK).done();
  }

  static byte[] failed(String text) {
    return new Wire.Out().octet(Wire.ERROR).text(text).done();
  }

  /** Exceptions have meanings to Spark, so the kinds that it knows keep theirs. */
  private static byte[] refused(Exception error) {
    String text = String.valueOf(error.getMessage());
    int kind =
        error instanceof FileNotFoundException ? Wire.NOT_FOUND
            : error instanceof FileAlreadyExistsException ? Wire.EXISTS
                : error instanceof PathIsNotEmptyDirectoryException ? Wire.NOT_EMPTY
                    : error instanceof ParentNotDirectoryException ? Wire.NOT_DIRECTORY
                        : Wire.ERROR;
    return new Wire.Out().octet(kind).text(text.length() > 4000 ? text.substring(0, 4000) : text).done();
  }
}
