package holdfast;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;

/**
 * The queries of this driver: finds the one a path belongs to, and asks Python where none is known.
 *
 * <p>A start claims; reading never does. What is shown of a query that does not run here is read
 * from the store again, for another driver may have gone on with it.
 */
final class Driver implements Namespace {
  private static final long VIEW_MS = 1000;

  private final Configuration conf;
  private final Map<String, Query> queries = new ConcurrentHashMap<>();
  private final Map<String, Object> locks = new ConcurrentHashMap<>();
  private final MetricRegistry metrics;
  private volatile Side side;

  Driver(Configuration conf, MetricRegistry metrics) {
    this.conf = conf;
    this.metrics = metrics;
    metrics.register("queries", (Gauge<Integer>) queries::size);
  }

  /** Python is there, with its settings; null takes it away. Views are of the stores before. */
  void attach(Side side) {
    Side before = this.side;
    this.side = side;
    if (before != null && side != null && before.stores != side.stores) {
      queries.values().removeIf(query -> !query.isClaim());
    }
  }

  @Override
  public Entry stat(Location at) throws IOException {
    Query query = shown(at, false);
    return query == null ? null : query.stat(at.below(query.root.path));
  }

  @Override
  public NavigableMap<String, Entry> list(Location at) throws IOException {
    Query query = shown(at, true);
    return query == null ? null : query.list(at.below(query.root.path));
  }

  @Override
  public Source open(Location at, long writer) throws IOException {
    Query query = shown(at, false);
    if (query == null) {
      throw new FileNotFoundException(at + " does not exist");
    }
    return query.reading.open(at.below(query.root.path));
  }

  @Override
  public void mkdirs(Location at, long writer) throws IOException {
    Query query = find(at);
    boolean isRoot = query == null || query.root.path.equals(at.path);
    if (isRoot && !Threads.isTask()) {
      query = start(at);
    } else if (isRoot || !query.isClaim()) {
      query = shown(at, false);
    }
    if (query == null) {
      throw new HoldfastException("NotFoundError: no such query: " + at);
    }
    enter(query);
    String path = at.below(query.root.path);
    if (!path.isEmpty()) {
      query.mkdirs(writable(path), writer);
    }
  }

  @Override
  public void publish(Location at, Content content, boolean overwrite, long writer)
      throws IOException {
    Query query = written(at);
    query.publish(writable(at.below(query.root.path)), content, overwrite, writer);
  }

  @Override
  public void rename(Location from, Location to, boolean overwrite, long writer)
      throws IOException {
    Query query = written(from);
    if (query != written(to)) {
      throw new IOException("a file stays in its query: " + from + " to " + to);
    }
    String root = query.root.path;
    query.rename(writable(from.below(root)), writable(to.below(root)), overwrite, writer);
  }

  @Override
  public boolean delete(Location at, boolean recursive, long writer) throws IOException {
    Query query = shown(at, false);
    return query != null
        && query.delete(writable(at.below(query.root.path)), recursive, writer);
  }

  @Override
  public Ticket sign(Location at, long size, String sha256s, String begun, long writer)
      throws IOException {
    Query query = written(at);
    writable(at.below(query.root.path));
    return query.sign(size, sha256s, begun, writer);
  }

  @Override
  public void finish(Location at, String key, String etags, long writer) throws IOException {
    written(at).finish(key, etags, writer);
  }

  @Override
  public long largeBytes() {
    Side now = side;
    return now == null ? Long.MAX_VALUE : now.largeBytes;
  }

  @Override
  public void hydrate(Location at) throws IOException {
    Query query = shown(at, false);
    if (query != null) {
      query.reading.hydrate(at.below(query.root.path));
    }
  }

  @Override
  public void loaded(Location at, long version, long milliseconds) {
    Query query = find(at);
    if (query != null) {
      query.loaded(at.below(query.root.path), version, milliseconds);
    }
  }

  /** The figures of the query that Spark knows by this id; null if it does not run here. */
  Figures figuresOf(String queryId) {
    for (Query query : queries.values()) {
      if (queryId != null && query.run.isOf(queryId)) {
        return query.figures;
      }
    }
    return null;
  }

  /** A query that can be answered for without asking Python; null if there is none. */
  Query inMemory(Location at) {
    return find(at);
  }

  /** Forget everything: the context stops. */
  void close() {
    side = null;
    for (Query query : queries.values()) {
      query.refuse("MisuseError: the Spark context was stopped");
      query.close();
    }
    queries.clear();
  }

  /** A path in a query; in local mode, tasks run in this process, under the executors' rule. */
  private static String writable(String path) throws IOException {
    return Threads.isTask() ? Location.requireState(path) : path;
  }

  /** The query to write into: it was started here. */
  private Query written(Location at) throws IOException {
    Query query = find(at);
    if (query == null) {
      throw new HoldfastException("MisuseError: no query was started at " + at);
    }
    enter(query);
    return query;
  }

  /** The query to read from, current; null if there is none. */
  private Query shown(Location at, boolean listing) throws IOException {
    Query known = find(at);
    boolean maintains = Threads.isMaintenance();
    if (known != null && (maintains || Threads.isTask() || isCurrent(known, listing))) {
      enter(known);
      return known;
    }
    if (maintains) {
      return null; // its run has ended: Spark closes each state store, and lists it once more
    }
    synchronized (lock(at.key())) {
      long number = known == null || known.isClaim() ? 0 : known.checkpoint;
      Side now = require();
      Reply reply = now.python.recover(at, false, number);
      if (reply.is("same")) {
        known.seen();
        return known;
      }
      return reply.is("absent") ? null : install(at, reply, now, known);
    }
  }

  private boolean isCurrent(Query query, boolean listing) throws IOException {
    return query.isClaim()
        ? query.run.isAlive()
        : System.currentTimeMillis() - query.seenMs() < (listing ? 1 : VIEW_MS);
  }

  /** A start: claim the chain, or share the claim of a run that is alive. */
  private Query start(Location at) throws IOException {
    synchronized (lock(at.key())) {
      Query known = queries.get(at.key());
      if (known != null && known.isClaim() && !known.isRefused() && known.run.isShared()) {
        known.run.starts();
        return known;
      }
      Side now = require();
      Reply reply = now.python.recover(at, true, 0);
      Query query = install(at, reply, now, known);
      if (query.isClaim()) {
        query.figures.register(metrics, query.root.path);
        Writers.note(conf, query.root, query.writer);
        Log.at(reply.text(8), reply.text(7));
      }
      return query;
    }
  }

  /** Show what was recovered. A view replaces what its reader saw, and never a newer claim. */
  private Query install(Location at, Reply reply, Side now, Query seen) throws IOException {
    File directory = new File(reply.text(4));
    Spool spool = new Spool(directory, now.spoolBytesMax);
    Segment segment = reply.text(6).isEmpty() ? null : spool.adopt(reply.text(6));
    Catalog shown = Catalog.read(new File(directory, reply.text(5)), segment);
    Location root = at.in(reply.text(1));
    Query query =
        new Query(root, reply.number(2), reply.number(3), now, spool, shown);
    if (!query.isClaim()) {
      return view(query, seen);
    }
    query.run.starts(); // before anyone finds it, or it would look like one that has ended
    Query before = queries.put(root.key(), query);
    if (before != null && before.isClaim()) {
      before.refuse("FencedError: this driver has started " + root + " again");
      before.close();
    }
    return query;
  }

  private Query view(Query query, Query seen) {
    Query placed =
        queries.compute(
            query.root.key(),
            (key, there) ->
                there == null || there == seen || !there.isClaim() ? query : there);
    if (placed != query) {
      query.close();
    } else if (seen != null && seen.isClaim() && seen.root.key().equals(query.root.key())) {
      seen.refuse("FencedError: the run on " + seen.root + " has ended");
      seen.close();
    }
    return placed;
  }

  /** The first touch by a stream thread: Python learns what runs, and may refuse it. */
  private void enter(Query query) throws IOException {
    if (!query.isClaim() || !query.run.begins()) {
      return;
    }
    Thread stream = Thread.currentThread();
    Thread watch = new Thread(() -> ended(query, stream), "holdfast-watch-" + query.root.path);
    watch.setDaemon(true);
    watch.start();
    String[] execution = Threads.execution(stream);
    try {
      require()
          .python
          .begin(query.root.key(), query.claim, execution[0], execution[1], stream.getName());
    } catch (HoldfastException refused) {
      query.refuse(refused.getMessage());
      throw refused;
    }
  }

  /** On a thread of its own: wait for the run's end, then let the claim go. */
  private void ended(Query query, Thread stream) {
    try {
      stream.join();
      synchronized (lock(query.root.key())) {
        if (query.run.isAliveNow()) {
          return; // another start shares this claim
        }
        queries.remove(query.root.key(), query);
        Query since = queries.get(query.root.key());
        if (since != null && since.isClaim()) {
          return; // another start has replaced it, in Python too
        }
        query.refuse("FencedError: the run on " + query.root + " has ended");
        query.close();
      }
      Side now = side;
      if (now != null) {
        Log.told(now.python.end(query.root.key(), query.claim));
      }
    } catch (InterruptedException | IOException | RuntimeException error) {
      // Often Python is gone already; only the hint is not written then.
      Log.info("the end of the run on " + query.root + " could not be told: " + error.getMessage());
    }
  }

  private Query find(Location at) {
    for (Location each = at; each != null; each = each.parent()) {
      Query query = queries.get(each.key());
      if (query != null) {
        return query;
      }
    }
    return null;
  }

  private Side require() throws IOException {
    Side now = side;
    if (now == null) {
      throw new HoldfastException(
          "BridgeError: holdfast.enable(spark) was not called in this driver"
              + " (call it once after the session is made)");
    }
    return now;
  }

  private Object lock(String key) {
    return locks.computeIfAbsent(key, absent -> new Object());
  }

  /** The Python side, what it said of sizes and times, and how often its stores have changed. */
  static final class Side {
    final PythonCalls python;
    final long spoolBytesMax;
    final long largeBytes;
    final long permitMs;
    final long stores;

    Side(PythonCalls python, long spoolBytesMax, long largeBytes, long permitMs, long stores) {
      this.python = python;
      this.spoolBytesMax = spoolBytesMax;
      this.largeBytes = largeBytes;
      this.permitMs = permitMs;
      this.stores = stores;
    }
  }
}
