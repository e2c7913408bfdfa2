package bench;

import java.io.IOException;
import java.util.SortedMap;

/** Where the floor's files are. Called by any thread of Spark. */
interface Tree {
  /** What is at a path; null if nothing is. */
  Node get(String path) throws IOException;

  /** A file's bytes. */
  byte[] read(String path) throws IOException;

  /** What a directory holds, by name; null if it is none. */
  SortedMap<String, Node> list(String path) throws IOException;

  void mkdirs(String path) throws IOException;

  /** A file is written, with the directories above it. */
  void put(String path, byte[] bytes, boolean overwrite) throws IOException;

  /** A file changes its name; who looks sees one name or the other. */
  void rename(String from, String to, boolean overwrite) throws IOException;

  /** A file or directory goes; false if there is none. */
  boolean delete(String path, boolean recursive) throws IOException;

  /** A file's size and time; a directory's size is none. */
  class Node {
    private static final long NONE = -1;

    final long size;
    final long modifiedMs;

    Node(long size, long modifiedMs) {
      this.size = size;
      this.modifiedMs = modifiedMs;
    }

    static Node file(long size, long modifiedMs) {
      return new Node(size, modifiedMs);
    }

    static Node directory(long modifiedMs) {
      return new Node(NONE, modifiedMs);
    }

    boolean isDirectory() {
      return size == NONE;
    }
  }
}
