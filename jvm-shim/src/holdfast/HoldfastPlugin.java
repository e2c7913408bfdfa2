package holdfast;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** What {@code spark.plugins} names; Spark makes one in the driver and one in each executor. */
public final class HoldfastPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new HoldfastDriverPlugin();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new HoldfastExecutorPlugin();
  }
}
