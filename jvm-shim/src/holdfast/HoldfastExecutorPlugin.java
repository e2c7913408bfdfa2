package holdfast;

import org.apache.spark.api.plugin.ExecutorPlugin;

/** An executor's part; in local mode the driver's part serves its tasks. */
final class HoldfastExecutorPlugin implements ExecutorPlugin {}
