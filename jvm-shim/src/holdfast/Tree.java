package holdfast;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The files of one query by path; every directory is an entry. Guarded by its query. */
final class Tree {
  private final Map<String, NavigableMap<String, Entry>> children = new HashMap<>();
  private final Entry root;
  private int files;

  Tree(long modifiedMs) {
    root = Entry.directory(modifiedMs, 0);
    children.put("", new TreeMap<>());
  }

  /** The entry at a path, null if there is none. */
  Entry get(String path) {
    if (path.isEmpty()) {
      return root;
    }
    NavigableMap<String, Entry> siblings = children.get(parent(path));
    return siblings == null ? null : siblings.get(name(path));
  }

  /** What a directory holds, by name; null if it is none. */
  NavigableMap<String, Entry> list(String path) {
    NavigableMap<String, Entry> found = children.get(path);
    return found == null ? null : Collections.unmodifiableNavigableMap(found);
  }

  /** Put an entry; the directory above it is there. */
  void put(String path, Entry entry) {
    Entry before = children.get(parent(path)).put(name(path), entry);
    if (before == null || before.directory) {
      files += entry.directory ? 0 : 1;
    }
    if (entry.directory) {
      children.putIfAbsent(path, new TreeMap<>());
    }
  }

  /** Take a file or an empty directory out. */
  void remove(String path) {
    Entry gone = children.get(parent(path)).remove(name(path));
    if (gone != null && gone.directory) {
      children.remove(path);
    } else if (gone != null) {
      files--;
    }
  }

  int files() {
    return files;
  }

  static String parent(String path) {
    return path.substring(0, Math.max(0, path.lastIndexOf('/')));
  }

  static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  static String join(String directory, String name) {
    return directory.isEmpty() ? name : directory + "/" + name;
  }
}
