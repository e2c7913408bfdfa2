package holdfast;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The large files that were signed for a run and are not published yet.
 *
 * <p>A file that is published as an object must be one of them: who could name any key would be
 * given tickets to read it, and could have a manifest name what nobody has written.
 */
final class Permits {
  private final long lastMs;
  private final Map<String, Permit> held = new LinkedHashMap<>(); // the oldest first

  Permits(long lastMs) {
    this.lastMs = lastMs;
  }

  synchronized void add(Ticket ticket) {
    held.remove(ticket.key); // one that is signed anew is the youngest again
    held.put(ticket.key, new Permit(ticket));
  }

  /**
   * Refuse one more upload where too many are open. Those that failed count until their permit is
   * withdrawn.
   *
   * @param begun the key of an upload that is signed again, else ""
   */
  synchronized void requireRoom(String begun) throws IOException {
    if (begun.isEmpty()) {
      Limits.require("uploads of a query", held.size() + 1L, Limits.UPLOADS_MAX);
    }
  }

  /** One object was made of the parts that were sent; before that there is none to publish. */
  synchronized void sent(String key) {
    Permit permit = held.get(key);
    if (permit != null) {
      permit.whole = true;
    }
  }

  /** This object is published now, once. */
  synchronized void use(Content object) throws IOException {
    Permit permit = held.get(object.key);
    if (permit == null || !permit.whole || !permit.is(object)) {
      throw new HoldfastException(
          "PermissionDeniedError: no ticket was given for this large file: "
              + (object.key.length() > 200 ? object.key.substring(0, 200) : object.key));
    }
    held.remove(object.key);
  }

  /** Keys whose time is over: an attempt that died left them, and none can be published now. */
  synchronized List<String> withdrawn() {
    List<String> keys = new ArrayList<>();
    for (Iterator<Map.Entry<String, Permit>> all = held.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<String, Permit> oldest = all.next();
      if (now() - oldest.getValue().sinceMs < lastMs) {
        break;
      }
      keys.add(oldest.getKey());
      all.remove();
    }
    return keys;
  }

  private static long now() {
    return System.nanoTime() / 1_000_000;
  }

  /** What was signed. */
  private static final class Permit {
    final long sinceMs = now();
    final long size;
    final String sha256;
    boolean whole;

    Permit(Ticket ticket) {
      size = ticket.size;
      sha256 = ticket.sha256;
      whole = !ticket.isParts();
    }

    boolean is(Content object) {
      return object.size == size && object.sha256.equals(sha256);
    }
  }
}
