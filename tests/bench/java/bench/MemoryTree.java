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
final class MemoryTree {
  static final MemoryTree TREE = new MemoryTree();

  private final Map<String, TreeMap<String, Node>> directories = new HashMap<>();
  private long newestMs;

  private MemoryTree() {
    directories.put("/", new TreeMap<>());
  }

  /** What is at a path; null if nothing is. */
  synchronized Node get(String path) {
    if (path.equals("/")) {
      return new Node(null, 0);
    }
    TreeMap<String, Node> siblings = directories.get(parent(path));
    return siblings == null ? null : siblings.get(name(path));
  }

  /** What a directory holds, by name; null if it is none. */
  synchronized TreeMap<String, Node> list(String path) {
    TreeMap<String, Node> found = directories.get(path);
    return found == null ? null : new TreeMap<>(found);
  }

  synchronized void mkdirs(String path) throws IOException {
    if (directories.containsKey(path)) {
      return;
    }
    mkdirs(parent(path));
    if (directories.get(parent(path)).put(name(path), new Node(null, tick())) != null) {
      throw new FileAlreadyExistsException(path + " is a file");
    }
    directories.put(path, new TreeMap<>());
  }

  /** A file appears, whole. */
  synchronized void put(String path, byte[] bytes, boolean overwrite) throws IOException {
    requireFree(path, overwrite);
    mkdirs(parent(path));
    directories.get(parent(path)).put(name(path), new Node(bytes, tick()));
  }

  /** A file changes its name; who looks sees one name or the other. */
  synchronized void rename(String from, String to, boolean overwrite) throws IOException {
    Node node = get(from);
    if (node == null || node.bytes == null) {
      throw new FileNotFoundException(from + " is not a file");
    }
    requireFree(to, overwrite);
    mkdirs(parent(to));
    directories.get(parent(from)).remove(name(from));
    directories.get(parent(to)).put(name(to), node);
  }

  /** A file or directory goes; false if there is none. */
  synchronized boolean delete(String path, boolean recursive) throws IOException {
    Node node = get(path);
    if (node == null) {
      return false;
    }
    if (node.bytes == null) {
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

  private void requireFree(String path, boolean overwrite) throws IOException {
    Node there = get(path);
    if (there != null && (there.bytes == null || !overwrite)) {
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

  /** A file's bytes and time; a directory has no bytes. */
  static final class Node {
    final byte[] bytes;
    final long modifiedMs;

    Node(byte[] bytes, long modifiedMs) {
      this.bytes = bytes;
      this.modifiedMs = modifiedMs;
    }
  }
}
