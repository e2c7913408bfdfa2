package bench;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileAlreadyExistsException;

/**
 * Every file of the floor, in this JVM: the one registry, which outlives a query and its restart.
 *
 * <p>Called by any thread of Spark. One lock, held for a look-up in a map and nothing else.
 */
final class MemoryTree implements Tree {
  static final MemoryTree TREE = new MemoryTree();

  private final Map<String, TreeMap<String, Node>> directories = new HashMap<>();
  private long newestMs;

  private MemoryTree() {
    directories.put("/", new TreeMap<>());
  }

  @Override
  public synchronized Node get(String path) {
    if (path.equals("/")) {
      return Node.directory(0);
    }
    TreeMap<String, Node> siblings = directories.get(parent(path));
    return siblings == null ? null : siblings.get(name(path));
  }

  @Override
  public synchronized byte[] read(String path) throws IOException {
    return file(path).bytes;
  }

  @Override
  public synchronized TreeMap<String, Node> list(String path) {
    TreeMap<String, Node> found = directories.get(path);
    return found == null ? null : new TreeMap<>(found);
  }

  @Override
  public synchronized void mkdirs(String path) throws IOException {
    if (directories.containsKey(path)) {
      return;
    }
    mkdirs(parent(path));
    if (directories.get(parent(path)).put(name(path), Node.directory(tick())) != null) {
      throw new FileAlreadyExistsException(path + " is a file");
    }
    directories.put(path, new TreeMap<>());
  }

  @Override
  public synchronized void put(String path, byte[] bytes, boolean overwrite) throws IOException {
    requireFree(path, overwrite);
    mkdirs(parent(path));
    directories.get(parent(path)).put(name(path), new Held(bytes, tick()));
  }

  @Override
  public synchronized void rename(String from, String to, boolean overwrite) throws IOException {
    Held file = file(from);
    requireFree(to, overwrite);
    mkdirs(parent(to));
    directories.get(parent(from)).remove(name(from));
    directories.get(parent(to)).put(name(to), file);
  }

  @Override
  public synchronized boolean delete(String path, boolean recursive) throws IOException {
    Node node = get(path);
    if (node == null) {
      return false;
    }
    if (node.isDirectory()) {
      TreeMap<String, Node> inside = directories.get(path);
      if (!inside.isEmpty() && !recursive) {
        throw new IOException(path + " is not empty");
      }
      for (String name : new ArrayList<>(inside.keySet())) {
        delete(path.equals("/") ? "/" + name : path + "/" + name, true);
      }
      directories.remove(path);
    }
    directories.get(parent(path)).remove(name(path));
    return true;
  }

  private Held file(String path) throws IOException {
    Node node = get(path);
    if (node instanceof Held) {
      return (Held) node;
    }
    throw new FileNotFoundException(path + " is not a file");
  }

  private void requireFree(String path, boolean overwrite) throws IOException {
    Node there = get(path);
    if (there != null && (there.isDirectory() || !overwrite)) {
      throw new FileAlreadyExistsException(path + " exists");
    }
  }

  private long tick() {
    newestMs = Math.max(newestMs + 1, System.currentTimeMillis());
    return newestMs;
  }

  private static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash <= 0 ? "/" : path.substring(0, slash);
  }

  private static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** A file with its bytes. */
  private static final class Held extends Node {
    final byte[] bytes;

    Held(byte[] bytes, long modifiedMs) {
      super(bytes.length, modifiedMs);
      this.bytes = bytes;
    }
  }
}
