package holdfast;

/** What a query's checkpoints come to, since its claim; shown by Spark's metrics. */
enum Figure {
  CHECKPOINT("checkpoint", "holdfastCheckpoint", "number of the last checkpoint"),
  REQUESTS("requests", "holdfastRequests", "requests to the object store"),
  BYTES_SENT("bytesSent", "holdfastBytesSent", "bytes sent to the object store"),
  MICRO_USD("microUsd", "holdfastMicroUsd", "price of the requests in millionths of a dollar"),
  MILLISECONDS("milliseconds", "holdfastMs", "milliseconds spent in the two gates"),
  LIVE_FILES("liveFiles", "holdfastLiveFiles", "files of the checkpoint"),
  LIVE_BYTES("liveBytes", "holdfastLiveBytes", "bytes of the checkpoint"),
  LOADS("stateLoads", "holdfastStateLoads", "state stores loaded from the checkpoint"),
  LOAD_MS("stateLoadMs", "holdfastStateLoadMs", "milliseconds spent loading them");

  /** As Python's answer and the metrics source name it. */
  final String key;

  /** As Spark's progress names it. */
  final String metric;

  final String description;

  Figure(String key, String metric, String description) {
    this.key = key;
    this.metric = metric;
    this.description = description;
  }
}
