package holdfast;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;

/**
 * Which files of a state store a task opens after it has listed them: the newest state, that is the
 * latest snapshot and every change after it.
 */
final class Hydration {
  private Hydration() {}

  /** Names to send along with a listing, the most wanted first; none outside of state. */
  static List<String> wanted(String directory, NavigableMap<String, Entry> files) {
    if (!directory.startsWith("state/") && !directory.contains("/state/")) {
      return Collections.emptyList();
    }
    List<Map.Entry<String, Entry>> newest = new ArrayList<>();
    for (Map.Entry<String, Entry> each : files.entrySet()) {
      if (!each.getValue().directory) {
        newest.add(each);
      }
    }
    newest.sort(Comparator.comparingLong(each -> -each.getValue().modifiedMs));
    List<String> names = new ArrayList<>();
    for (Map.Entry<String, Entry> each : newest) {
      names.add(each.getKey());
      if (each.getKey().endsWith(".snapshot") || each.getKey().endsWith(".zip")) {
        break;
      }
    }
    return names;
  }
}
