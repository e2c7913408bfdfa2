package holdfast;

import java.util.Map;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/**
 * An executor's part: called by Spark when an executor starts and stops. In local mode there is one
 * in the driver's process, too, where the driver's own part serves the tasks.
 */
final class HoldfastExecutorPlugin implements ExecutorPlugin {
  @Override
  public void init(PluginContext plugin, Map<String, String> extraConf) {
    Registry.set(new Executor(plugin));
  }

  @Override
  public void shutdown() {
    Registry.set((Executor) null);
  }
}
