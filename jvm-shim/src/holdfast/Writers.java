package holdfast;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * Which start of a query a filesystem was opened by, carried by the Hadoop configuration.
 *
 * <p>Spark copies the context's configuration for every run and hands it to the run's state stores,
 * so a thread of an earlier run, on any machine, still has the earlier run's numbers.
 */
final class Writers {
  private static final String KEY = "fs.holdfast.writers";

  private final Map<String, Long> numbers = new TreeMap<>();

  static Writers of(Configuration conf) {
    Writers writers = new Writers();
    for (String line : conf.get(KEY, "").split("\n")) {
      int space = line.indexOf(' ');
      if (space > 0) {
        writers.numbers.put(line.substring(space + 1), Long.parseLong(line.substring(0, space)));
      }
    }
    return writers;
  }

  /** The number of the start of the query that has this path, 0 if none is known. */
  long of(Location at) {
    for (Location each = at; each != null; each = each.parent()) {
      Long number = numbers.get(each.key());
      if (number != null) {
        return number;
      }
    }
    return 0;
  }

  /** Write one more start down, for the run that begins now. */
  static void note(Configuration conf, Location root, long number) {
    synchronized (conf) {
      Writers writers = of(conf);
      writers.numbers.put(root.key(), number);
      StringBuilder text = new StringBuilder();
      for (Map.Entry<String, Long> each : writers.numbers.entrySet()) {
        text.append(each.getValue()).append(' ').append(each.getKey()).append('\n');
      }
      conf.set(KEY, text.toString());
    }
  }
}
