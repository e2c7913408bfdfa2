package holdfast;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The large files that were signed for a run and are not published yet.
 *
 * <p>A file that is published as an object must be one of them: who could name any key would be
 * given tickets to read it, and could have a manifest name what nobody has written.
 */
final class Permits {
  private static final int HELD_MAX = 100_000; // of uploads that failed, the oldest are forgotten

  private final Map<String, String> held = new LinkedHashMap<>();

  synchronized void add(Ticket ticket) {
    held.put(ticket.key, ticket.size + " " + ticket.sha256);
    Iterator<String> oldest = held.keySet().iterator();
    if (held.size() > HELD_MAX) {
      oldest.next();
      oldest.remove();
    }
  }

  /** This object is published now, once. */
  synchronized void use(Content object) throws IOException {
    String signed = held.remove(object.key);
    if (!(object.size + " " + object.sha256).equals(signed)) {
      throw new HoldfastException(
          "PermissionDeniedError: no ticket was given for this large file: "
              + (object.key.length() > 200 ? object.key.substring(0, 200) : object.key));
    }
  }
}
