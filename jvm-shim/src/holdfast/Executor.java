package holdfast;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.spark.api.plugin.PluginContext;

/** The files as an executor reaches them: it asks the driver, and keeps what it may need next. */
final class Executor implements Namespace {
  private static final long WAIT_MS_MIN = 2;
  private static final long WAIT_MS_MAX = 100;
  private static final long PATIENCE_MS = 600_000;

  private final PluginContext plugin;
  private final Cache cache = new Cache();
  private volatile long largeBytes = -1;

  Executor(PluginContext plugin) {
    this.plugin = plugin;
  }

  @Override
  public Entry stat(Location at) throws IOException {
    Wire.In in = ask(message(Wire.STAT, at));
    return in == null ? null : in.entry();
  }

  @Override
  public NavigableMap<String, Entry> list(Location at) throws IOException {
    Wire.In in = ask(message(Wire.LIST, at));
    if (in == null) {
      return null;
    }
    long writer = in.number();
    NavigableMap<String, Entry> found = new TreeMap<>();
    for (long left = in.number(); left > 0; left--) {
      found.put(in.text(), in.entry());
    }
    for (String name = in.text(); !name.isEmpty(); name = in.text()) {
      cache.put(at.child(name), writer, found.get(name), in.body());
    }
    return found;
  }

  @Override
  public Source open(Location at, long writer) throws IOException {
    byte[] kept = cache.take(at, writer);
    if (kept != null) {
      return Source.of(kept);
    }
    Wire.In in = ask(message(Wire.OPEN, at));
    if (in == null) {
      throw new FileNotFoundException(at + " does not exist");
    }
    return in.flag() ? Source.of(in.body()) : Source.of(ticket(in), () -> open(at, writer));
  }

  @Override
  public void mkdirs(Location at, long writer) throws IOException {
    if (ask(message(Wire.MKDIRS, at).number(writer)) == null) {
      throw new HoldfastException("NotFoundError: no such query: " + at);
    }
  }

  @Override
  public void publish(Location at, Content content, boolean overwrite, long writer)
      throws IOException {
    Wire.Out out = message(Wire.PUBLISH, at).number(writer).flag(overwrite);
    if (content.isObject()) {
      out.flag(false).text(content.key).number(content.size).text(content.sha256);
      out.number(content.crc32);
    } else {
      out.flag(true).body(content.bytes, content.count);
    }
    require(ask(out), at);
  }

  @Override
  public void rename(Location from, Location to, boolean overwrite, long writer)
      throws IOException {
    require(ask(message(Wire.RENAME, from).text(to.path).flag(overwrite).number(writer)), from);
  }

  @Override
  public boolean delete(Location at, boolean recursive, long writer) throws IOException {
    return ask(message(Wire.DELETE, at).flag(recursive).number(writer)) != null;
  }

  @Override
  public Ticket sign(Location at, long size, String sha256s, String begun, long writer)
      throws IOException {
    Wire.In in =
        ask(message(Wire.SIGN, at).number(writer).number(size).text(sha256s).text(begun));
    require(in, at);
    in.flag();
    return ticket(in);
  }

  @Override
  public void finish(Location at, String key, String etags, long writer) throws IOException {
    require(ask(message(Wire.FINISH, at).number(writer).text(key).text(etags)), at);
  }

  @Override
  public void hydrate(Location at) throws IOException {
    list(at);
  }

  @Override
  public void loaded(Location at, long version, long milliseconds) throws IOException {
    ask(message(Wire.LOADED, at).number(version).number(milliseconds));
  }

  @Override
  public long largeBytes() throws IOException {
    if (largeBytes < 0) {
      Wire.In in = ask(header(Wire.SETTINGS));
      largeBytes = in.number();
    }
    return largeBytes;
  }

  private static Wire.Out header(byte kind) {
    return new Wire.Out()
        .octet(Wire.VERSION)
        .number(ThreadLocalRandom.current().nextLong())
        .flag(Threads.isMaintenance())
        .octet(kind);
  }

  private static Wire.Out message(byte kind, Location at) {
    return header(kind).text(at.store).text(at.path);
  }

  private static Ticket ticket(Wire.In in) throws IOException {
    long count = in.number();
    if (count < 0 || count > Ticket.LINES_MAX) {
      throw new HoldfastException("BridgeError: a ticket has an impossible length: " + count);
    }
    String[] lines = new String[(int) count];
    for (int line = 0; line < lines.length; line++) {
      lines[line] = in.text();
    }
    return new Ticket(lines);
  }

  private static void require(Wire.In in, Location at) throws IOException {
    if (in == null) {
      throw new HoldfastException("MisuseError: no query was started at " + at);
    }
  }

  /** One message, asked again while the driver needs longer; null where it says "absent". */
  private Wire.In ask(Wire.Out message) throws IOException {
    byte[] bytes = message.done();
    long asked = System.currentTimeMillis();
    while (true) {
      Wire.In in = new Wire.In(send(bytes));
      byte kind = in.octet();
      if (kind == Wire.OK) {
        return in;
      }
      if (kind == Wire.ABSENT) {
        return null;
      }
      if (kind != Wire.AGAIN) {
        throw meaning(kind, in.text());
      }
      long waited = System.currentTimeMillis() - asked;
      if (waited > PATIENCE_MS) {
        throw new HoldfastException("UnavailableError: the driver has not answered in ten minutes");
      }
      pause(Math.max(WAIT_MS_MIN, Math.min(WAIT_MS_MAX, waited / 4)));
    }
  }

  private byte[] send(byte[] message) throws IOException {
    try {
      Object answer = plugin.ask(message);
      if (answer instanceof byte[]) {
        return (byte[]) answer;
      }
      throw new HoldfastException("BridgeError: the driver has no Holdfast");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the driver was asked");
    } catch (IOException error) {
      throw error;
    } catch (Exception error) {
      throw new HoldfastException("UnavailableError: the driver does not answer: " + error, error);
    }
  }

  private static void pause(long milliseconds) throws IOException {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the driver was asked");
    }
  }

  private static IOException meaning(byte kind, String text) {
    switch (kind) {
      case Wire.NOT_FOUND:
        return new FileNotFoundException(text);
      case Wire.EXISTS:
        return new FileAlreadyExistsException(text);
      case Wire.NOT_EMPTY:
        return new PathIsNotEmptyDirectoryException(text);
      case Wire.NOT_DIRECTORY:
        return new ParentNotDirectoryException(text);
      default:
        return new HoldfastException(text);
    }
  }
}
