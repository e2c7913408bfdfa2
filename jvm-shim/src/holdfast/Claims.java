package holdfast;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * Which claim a filesystem was opened under, carried by the Hadoop configuration.
 *
 * <p>Spark copies the context's configuration for every run and hands it to the run's state stores,
 * so a thread of an earlier run, on any machine, still has the earlier run's numbers.
 */
final class Claims {
  private static final String KEY = "fs.holdfast.claims";

  private final Map<String, Long> numbers = new TreeMap<>();

  static Claims of(Configuration conf) {
    Claims claims = new Claims();
    for (String line : conf.get(KEY, "").split("\n")) {
      int space = line.indexOf(' ');
      if (space > 0) {
        claims.numbers.put(line.substring(space + 1), Long.parseLong(line.substring(0, space)));
      }
    }
    return claims;
  }

  /** The number of the claim on the query that has this path, 0 if none is known. */
  long of(Location at) {
    for (Location each = at; each != null; each = each.parent()) {
      Long number = numbers.get(each.key());
      if (number != null) {
        return number;
      }
    }
    return 0;
  }

  /** Write one more claim down for all runs that begin from now on. */
  static void note(Configuration conf, Location root, long number) {
    synchronized (conf) {
      Claims claims = of(conf);
      claims.numbers.put(root.key(), number);
      StringBuilder text = new StringBuilder();
      for (Map.Entry<String, Long> each : claims.numbers.entrySet()) {
        text.append(each.getValue()).append(' ').append(each.getKey()).append('\n');
      }
      conf.set(KEY, text.toString());
    }
  }
}
