package holdfast;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * One query's files as this driver shows them, and the gates that they pass.
 *
 * <p>Invariants: {@code offsets/N} and {@code commits/N} are in the tree only after Python said
 * that their record is durable; what a commit has cut off is never replaced; after a refusal
 * nothing is written any more. The lock is held for memory only, never across a call of Python.
 */
final class Query {
  final Location root;
  final long claim;

  /** Which start of this process it belongs to: a claim's number is unique only on its chain. */
  final long writer = Registry.nextWriter();

  final long checkpoint;
  final Run run = new Run(this);
  final Figures figures = new Figures();
  final Reading reading;

  private final PythonCalls python;
  private final Spool spool;
  private final Tree tree;
  private final Journal journal = new Journal();
  private final Permits permits;
  private final Object gates = new Object();
  private long order;
  private long cut;
  private long newestMs;
  private volatile String refusal;
  private volatile long seenMs = System.currentTimeMillis();

  Query(
      Location root, long claim, long checkpoint, Driver.Side side, Spool spool, Catalog shown) {
    this.root = root;
    this.claim = claim;
    this.checkpoint = checkpoint;
    this.python = side.python;
    this.permits = new Permits(side.permitMs);
    this.spool = spool;
    this.reading = new Reading(this, side, spool);
    this.tree = shown.tree;
    this.newestMs = shown.newestMs;
  }

  /** A claim writes; a view, whose number is negative, only reads. Python takes views away. */
  boolean isClaim() {
    return claim > 0;
  }

  /** The store still has what this view shows. */
  void seen() {
    seenMs = System.currentTimeMillis();
  }

  long seenMs() {
    return seenMs;
  }

  synchronized Entry stat(String path) {
    return tree.get(path);
  }

  /** A file, which must be there. */
  synchronized Entry file(String path) throws IOException {
    Entry entry = tree.get(path);
    if (entry == null || entry.directory) {
      String what = entry == null ? " does not exist" : " is a directory";
      throw new FileNotFoundException(root.child(path) + what);
    }
    return entry;
  }

  /** What is in a directory, by name; null where there is none. */
  synchronized NavigableMap<String, Entry> list(String path) {
    NavigableMap<String, Entry> found = tree.list(path);
    return found == null ? null : new TreeMap<>(found);
  }

  /** A state store was loaded: counted, and told to Python with the next event. */
  synchronized void loaded(String path, long version, long milliseconds) {
    figures.add(Figure.LOADS, 1);
    figures.add(Figure.LOAD_MS, milliseconds);
    journal.loaded(path, version, milliseconds);
  }

  /** Ask Python to sign the upload of a file that is too large for the driver. */
  Ticket sign(long size, String sha256s, String begun, long by) throws IOException {
    requireWriter(by);
    permits.requireRoom(begun);
    Ticket ticket = new Ticket(python.sign(root.key(), claim, size, sha256s, begun));
    if (!ticket.isNone()) {
      permits.add(ticket);
    }
    return ticket;
  }

  /** Ask Python to make one object of the parts that were sent. */
  void finish(String key, String etags, long by) throws IOException {
    requireWriter(by);
    python.finish(root.key(), claim, key, etags);
    permits.sent(key);
  }

  /** Make a directory and those above it. */
  synchronized void mkdirs(String path, long by) throws IOException {
    if (isClaim()) {
      requireWriter(by);
    }
    Location.checked(path);
    Entry there = tree.get(path);
    if (there == null) {
      mkdirs(Tree.parent(path), by);
      Entry made = Entry.directory(tick(), ++order);
      tree.put(path, made);
      journal.directory(path, made);
    } else if (!there.directory) {
      throw new ParentNotDirectoryException(root.child(path) + " is a file");
    }
  }

  /**
   * Let a file appear under its name, whole; through its gate if it has one.
   *
   * @throws FileAlreadyExistsException if the name is taken and must not be replaced
   */
  void publish(String path, Content content, boolean overwrite, long by) throws IOException {
    if (!content.isObject()) {
      put(path, content, overwrite, by);
      return;
    }
    permits.use(content);
    long shown = 0;
    try {
      shown = put(path, content, overwrite, by);
    } finally {
      if (shown == 0) {
        left(content.key);
      }
    }
  }

  /** A large file that no record names and none will. */
  private synchronized void left(String key) {
    journal.left(key);
  }

  /** Returns the file's position; 0 if it is not shown. */
  private long put(String path, Content content, boolean overwrite, long by) throws IOException {
    requireWriter(by);
    Location.checked(path);
    Gate gate = Gate.of(path);
    Place place = content.size == 0 || content.isObject() ? null
        : spool.append(content.bytes, content.count);
    long settled = 0;
    try {
      settled = gate == null
          ? show(path, content, place, overwrite, by)
          : pass(gate, path, content, place, by);
      return settled;
    } finally {
      if (place != null) {
        place.segment.settle(settled);
      }
    }
  }

  /** Move a file to another name, as a publication of that name. */
  void rename(String from, String to, boolean overwrite, long by) throws IOException {
    Content content = file(from).object;
    if (content == null) {
      byte[] bytes = reading.open(from).bytes;
      if (bytes == null) {
        throw new IOException("a large file of an earlier run cannot be renamed: " + root.child(from));
      }
      content = Content.small(bytes, bytes.length);
    }
    put(to, content.renamed(), overwrite, by);
    delete(from, false, by);
  }

  /** Delete a file or directory; false if there is none. */
  synchronized boolean delete(String path, boolean recursive, long by) throws IOException {
    requireWriter(by);
    Entry entry = tree.get(path);
    if (entry == null) {
      return false;
    }
    if (path.isEmpty()) {
      throw new HoldfastException(
          "MisuseError: a query's checkpoint is not deleted through the filesystem: " + root
              + " (`holdfast rm` does it)");
    }
    Collection<String> names = entry.directory ? new ArrayList<>(tree.list(path).keySet()) : null;
    if (names != null && !names.isEmpty() && !recursive) {
      throw new PathIsNotEmptyDirectoryException(root.child(path).toString());
    }
    for (String name : names == null ? new ArrayList<String>() : names) {
      delete(Tree.join(path, name), true, by);
    }
    tree.remove(path);
    journal.gone(entry.directory ? path + "/" : path);
    return true;
  }

  /** Whether a file is in a manifest, or about to be: its bytes are never others. */
  synchronized boolean isSealed(Entry entry) {
    return entry.order <= cut;
  }

  /** Bytes in the spool and files in the tree: what a run holds on this machine. */
  synchronized long[] held() {
    return new long[] {spool.bytes(), tree.files()};
  }

  /** From now on nothing is written: Python said no, or another claim follows this one. */
  void refuse(String reason) {
    refusal = reason;
  }

  boolean isRefused() {
    return refusal != null;
  }

  /** Take the spool off the disk; readers that are under way go on. */
  void close() {
    spool.unlink();
  }

  /** Show a file, and return its position; 0 if a losing attempt came too late to be shown. */
  private synchronized long show(
      String path, Content content, Place place, boolean overwrite, long by)
      throws IOException {
    Entry there = requireFree(path, overwrite);
    if (there != null && there.order <= cut && path.startsWith("state/")) {
      return 0; // the name is in a committed manifest
    }
    mkdirs(Tree.parent(path), by);
    Entry entry = Entry.published(content, tick(), ++order, place);
    tree.put(path, entry);
    journal.file(path, entry, content);
    return entry.order;
  }

  /** Ask Python, and show the file only if its record is durable. */
  private long pass(Gate gate, String path, Content content, Place place, long by)
      throws IOException {
    synchronized (gates) {
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedIOException("interrupted before " + root.child(path) + " was durable");
      }
      String told;
      Entry entry;
      synchronized (this) {
        requireFree(path, false);
        mkdirs(Tree.parent(path), by);
        entry = Entry.published(content, tick(), ++order, place);
        journal.file(path, entry, content);
        if (gate.kind == Gate.Kind.COMMIT) {
          permits.withdrawn().forEach(journal::left);
        }
        told = journal.cut();
        cut = gate.kind == Gate.Kind.COMMIT ? entry.order : cut;
      }
      Reply reply = ask(gate, told, path);
      synchronized (this) {
        tree.put(path, entry);
      }
      if (gate.kind == Gate.Kind.COMMIT) {
        spool.durable(entry.order);
        figures.tell(reply.text(2));
      }
      Log.told(reply);
      return entry.order;
    }
  }

  /** What was told is told once: whatever ends this early, an Error too, ends the claim. */
  private Reply ask(Gate gate, String told, String path) throws IOException {
    String reason = "BridgeError: the gate was cut short: " + root.child(path);
    try {
      Reply reply =
          gate.kind == Gate.Kind.INTENT
              ? python.intent(root.key(), claim, gate.batch, told)
              : python.commit(root.key(), claim, gate.batch, told);
      reason = null;
      return reply;
    } catch (HoldfastException error) {
      reason = error.getMessage();
      throw error;
    } catch (RuntimeException error) {
      reason = "BridgeError: the Python side is gone: " + error.getMessage();
      throw new HoldfastException(reason, error);
    } finally {
      if (reason != null) {
        refuse(reason);
      }
    }
  }

  private Entry requireFree(String path, boolean overwrite) throws IOException {
    Entry there = tree.get(path);
    if (there != null && (there.directory || !overwrite)) {
      throw new FileAlreadyExistsException(root.child(path) + " exists");
    }
    return there;
  }

  /** Whether this writer may write: the claim is its own, and nothing was refused. */
  private void requireWriter(long by) throws IOException {
    if (!isClaim()) {
      throw new HoldfastException(
          "MisuseError: no query of this driver runs on " + root + ": it can only be read");
    }
    if (by != 0 && by != writer) {
      throw new HoldfastException(
          "FencedError: an earlier run of this driver still writes to " + root
              + ", which was started again since");
    }
    String reason = refusal;
    if (reason != null) {
      throw new HoldfastException(reason);
    }
  }

  /** Strictly increasing whatever the clock does: Spark decides deletions by these times. */
  private long tick() {
    newestMs = Math.max(newestMs + 1, System.currentTimeMillis());
    return newestMs;
  }
}
