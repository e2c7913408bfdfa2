package holdfast;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;

/** The figures of one query, told by Python with each checkpoint and counted here for loads. */
final class Figures {
  private final AtomicLongArray values = new AtomicLongArray(Figure.values().length);
  private final Queue<Consumer<Figures>> watchers = new ConcurrentLinkedQueue<>();

  long get(Figure figure) {
    return values.get(figure.ordinal());
  }

  void add(Figure figure, long amount) {
    values.addAndGet(figure.ordinal(), amount);
  }

  /** Tell somebody the figures after the next checkpoint, once. */
  void watch(Consumer<Figures> watcher) {
    watchers.add(watcher);
  }

  /** Take in {@code name=value} pairs, separated by spaces; names of later versions are ignored. */
  void tell(String pairs) {
    for (String pair : pairs.split(" ")) {
      int equals = pair.indexOf('=');
      for (Figure figure : Figure.values()) {
        if (equals > 0 && figure.key.equals(pair.substring(0, equals))) {
          values.set(figure.ordinal(), Long.parseLong(pair.substring(equals + 1)));
        }
      }
    }
    for (Consumer<Figures> each = watchers.poll(); each != null; each = watchers.poll()) {
      each.accept(this);
    }
  }

  /** Show them as gauges of Spark's metrics system, by the query's name. */
  void register(MetricRegistry registry, String query) {
    for (Figure figure : Figure.values()) {
      String name = MetricRegistry.name(query.replace('.', '_').replace('/', '.'), figure.key);
      registry.remove(name);
      registry.register(name, (Gauge<Long>) () -> get(figure));
    }
  }
}
