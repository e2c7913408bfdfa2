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

  /** Paths of the small ones among them whose bytes are not on this machine. */
  static List<String> far(String directory, NavigableMap<String, Entry> files, long largeBytes) {
    List<String> paths = new ArrayList<>();
    for (String name : wanted(directory, files)) {
      Entry entry = files.get(name);
      boolean large = entry.object != null || entry.size > largeBytes;
      if (!large && entry.size > 0 && (entry.place == null || entry.place.segment.isDropped())) {
        paths.add(Tree.join(directory, name));
      }
    }
    return paths;
  }
}
