package holdfast;

import java.util.Collections;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** The driver's part: called by Spark while a context starts and stops. */
final class HoldfastDriverPlugin implements DriverPlugin {
  private ExecutorRequests requests;

  /**
   * Announce the filesystem. The context's own configuration is used, because a services file is
   * read before a jar of {@code --jars} is visible. Instances are not cached, so that each has the
   * configuration, and with it the number, of the start that opened it.
   */
  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    Configuration conf = context.hadoopConfiguration();
    conf.set("fs.holdfast.impl", HoldfastFileSystem.class.getName());
    conf.set("fs.AbstractFileSystem.holdfast.impl", HoldfastFs.class.getName());
    conf.setBoolean("fs.holdfast.impl.disable.cache", true);
    Driver driver = new Driver(conf, plugin.metricRegistry());
    requests = new ExecutorRequests(driver);
    Registry.set(driver);
    Registry.set(requests);
    return Collections.emptyMap();
  }

  /** On the one thread that serves all executors. */
  @Override
  public Object receive(Object message) {
    return requests.answer(message);
  }

  @Override
  public void shutdown() {
    Driver driver = Registry.driver();
    Registry.set((Driver) null);
    Registry.set((ExecutorRequests) null);
    requests.close();
    if (driver != null) {
      driver.close();
    }
  }
}
