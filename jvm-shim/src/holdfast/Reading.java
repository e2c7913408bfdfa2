package holdfast;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;

/** The bytes of one query's files: those on this machine, and those that Python fetches. */
final class Reading {
  private static final int FETCHES_MAX = 10;

  private final Query query;
  private final PythonCalls python;
  private final Spool spool;
  private final long largeBytes;

  Reading(Query query, Driver.Side side, Spool spool) {
    this.query = query;
    this.python = side.python;
    this.largeBytes = side.largeBytes;
    this.spool = spool;
  }

  /** A small file's bytes if they are on this machine, else null. */
  byte[] local(String path) throws IOException {
    return query.file(path).local();
  }

  /**
   * A small file's bytes, from the store if they are not here, or a ticket for a large one. What
   * was fetched can be dropped again before it is read, where others fetch more than the spool has
   * room for.
   */
  Source open(String path) throws IOException {
    byte[] bytes = local(path);
    for (int attempt = 1; bytes == null; attempt++) {
      if (attempt > FETCHES_MAX) {
        throw new HoldfastException(
            "UnavailableError: the spool does not keep what is fetched: " + query.root.child(path)
                + " (its run has ended, or spark.holdfast.spool.maxBytes is too small)");
      }
      Reply reply = fetch(path);
      if (reply.is("ticket")) {
        return Source.of(new Ticket(reply), () -> open(path));
      }
      bytes = local(path);
    }
    return Source.of(bytes);
  }

  /** Whether the newest state in a directory is on this machine. */
  boolean isNear(String directory) {
    return far(directory).isEmpty();
  }

  /** Fetch the newest state in a directory that is only on the store, pack by pack. */
  void hydrate(String directory) throws IOException {
    for (String path : far(directory)) {
      try {
        if (local(path) == null) {
          fetch(path);
        }
      } catch (IOException error) {
        if (query.stat(path) != null) {
          throw error;
        } // else it was deleted since it was listed
      }
    }
  }

  /** Small files of the newest state whose bytes are not here. */
  private List<String> far(String directory) {
    NavigableMap<String, Entry> found = query.list(directory);
    return found == null
        ? Collections.emptyList()
        : Hydration.far(directory, found, largeBytes);
  }

  /** Ask Python for a file: its bytes come into the spool, or the answer is a ticket for them. */
  private Reply fetch(String path) throws IOException {
    Content object = query.file(path).object;
    String known = object == null ? "" : object.text();
    Reply reply = python.fetch(query.root.key(), query.claim, path, known);
    if (reply.is("ok")) {
      take(reply);
    }
    return reply;
  }

  /** Take in a segment that Python wrote, and where in it the bytes of which files are. */
  private void take(Reply reply) throws IOException {
    Segment segment = spool.adopt(reply.text(1));
    if (segment == null) {
      return;
    }
    for (int line = 2; line < reply.size(); line++) {
      String[] fields = reply.text(line).split("\t");
      Entry entry = query.stat(fields[0]);
      if (entry != null && entry.modifiedMs == Long.parseLong(fields[1])) {
        entry.place = new Place(segment, Long.parseLong(fields[2]));
      }
    }
  }
}
