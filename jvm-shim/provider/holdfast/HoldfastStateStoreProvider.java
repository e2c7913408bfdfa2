package holdfast;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreCustomMetric;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's RocksDB state store, which tells of its loads, has its partition fetched in one call, and
 * shows Holdfast's figures among the operator's metrics. Optional; for Spark 4.2 and newer.
 *
 * <p>Spark makes one per partition in an executor, and one without a partition in the driver, which
 * it asks for its metrics. It calls a store's methods on task threads. Spark writes this class's
 * name into the offset log: a query that began with it needs a new chain to leave it.
 */
public final class HoldfastStateStoreProvider extends RocksDBStateStoreProvider {
  private long loaded = -1;

  @Override
  public StateStore getStore(long version, Option<String> id, boolean snapshot, boolean empty) {
    long started = before(version);
    StateStore store = super.getStore(version, id, snapshot, empty);
    after(version, started);
    return store;
  }

  @Override
  public StateStore getReadStore(long version, Option<String> id) {
    long started = before(version);
    StateStore store = super.getReadStore(version, id);
    after(version, started);
    return store;
  }

  @Override
  public Seq<StateStoreCustomMetric> supportedCustomMetrics() {
    java.util.List<StateStoreCustomMetric> all =
        new java.util.ArrayList<>(CollectionConverters.asJava(super.supportedCustomMetrics()));
    for (Figure figure : Figure.values()) {
      all.add(new FigureMetric(figure));
    }
    return CollectionConverters.asScala(all).toSeq();
  }

  /** Before a cold load: the partition's files in one call. Returns the time, 0 for a warm one. */
  private long before(long version) {
    if (version == 0 || version == loaded || !isHere()) {
      return 0;
    }
    try {
      Registry.names().hydrate(place());
    } catch (IOException error) {
      Log.info("fetching ahead failed, so files are fetched one by one: " + error.getMessage());
    }
    return System.nanoTime();
  }

  private void after(long version, long started) {
    loaded = version + 1; // the version that this provider has when its batch is committed
    if (started == 0) {
      return;
    }
    try {
      long milliseconds = (System.nanoTime() - started) / 1_000_000;
      Registry.names().loaded(place(), version, milliseconds);
    } catch (IOException error) {
      Log.info("the load of a state store could not be told: " + error.getMessage());
    }
  }

  /** On another filesystem this is Spark's provider and nothing more. */
  private boolean isHere() {
    String scheme = stateStoreId().storeCheckpointLocation().toUri().getScheme();
    return HoldfastFileSystem.SCHEME.equals(scheme);
  }

  private Location place() {
    Path path = stateStoreId().storeCheckpointLocation();
    return Location.of(path);
  }
}
