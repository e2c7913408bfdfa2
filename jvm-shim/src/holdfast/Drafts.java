package holdfast;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Temporary files of this process, which Spark writes, closes and renames.
 *
 * <p>They never leave the process: only the rename publishes, so that one state file is one message
 * to the driver. One whose task died without a word is forgotten after an hour.
 */
final class Drafts {
  private static final long AGE_MAX_MS = 3_600_000;
  private static final int SWEEP_FROM = 256;

  private final Map<String, Held> held = new ConcurrentHashMap<>();

  /** Whether a name is one of Spark's temporary ones. */
  static boolean isTemporary(Location at) {
    String name = Tree.name(at.path);
    return name.startsWith(".") && name.endsWith(".tmp");
  }

  void put(Location at, Draft draft) throws IOException {
    if (held.size() >= SWEEP_FROM) {
      sweep();
    }
    Held before = held.put(at.toString(), new Held(draft));
    if (before != null) {
      before.draft.discard();
    }
  }

  Draft get(Location at) {
    Held found = held.get(at.toString());
    return found == null ? null : found.draft;
  }

  Draft take(Location at) {
    Held found = held.remove(at.toString());
    return found == null ? null : found.draft;
  }

  private void sweep() throws IOException {
    long oldest = System.currentTimeMillis() - AGE_MAX_MS;
    for (Map.Entry<String, Held> each : held.entrySet()) {
      Held found = each.getValue();
      if (found.sinceMs < oldest && held.remove(each.getKey(), found)) {
        found.draft.discard(); // nobody else has taken it meanwhile
      }
    }
  }

  private static final class Held {
    final Draft draft;
    final long sinceMs = System.currentTimeMillis();

    Held(Draft draft) {
      this.draft = draft;
    }
  }
}
