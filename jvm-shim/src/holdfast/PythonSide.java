package holdfast;

/**
 * What the driver's Python decides, one method per event; `holdfast.spark.bridge` implements it.
 *
 * <p>Called through {@link PythonCalls} only, without any lock held, on the thread on which the
 * event happens. The first argument of every method is the secret of {@link Bridge#attach}; Python
 * refuses a call with another one. Only strings, numbers and booleans cross; bytes go through the
 * spool's files. An answer is read by {@link Reply}. Python never throws: an exception would arrive
 * without its type.
 */
public interface PythonSide {
  /**
   * A query is touched for the first time, or again after its run has ended.
   *
   * @param start whether this is a query's start, which claims the chain
   * @param known the checkpoint that is shown already, 0 for none; the answer may be "same"
   * @return root, claim, checkpoint, directory of the spool, name of the catalog, of the segment,
   *     a line for the log and its level
   */
  String recover(String secret, String store, String path, boolean start, long known);

  /** A run begins on its stream thread: what Spark calls its execution, its trigger, its ids. */
  String begin(
      String secret, String query, long claim, String execution, String trigger, String thread);

  /** {@code offsets/N} is about to appear. */
  String intent(String secret, String query, long claim, long batch, String journal);

  /** {@code commits/N} is about to appear. */
  String commit(String secret, String query, long claim, long batch, String journal);

  /**
   * A file is read whose bytes are not on this machine.
   *
   * @param object size, hash and key of a large file that no manifest names yet, else ""
   */
  String fetch(String secret, String query, long claim, String path, String object);

  /**
   * A file is too large for the driver: sign one upload, for exactly these bytes.
   *
   * @param sha256s the whole file's hash, then its parts' if it has several, separated by spaces
   * @param begun the key of an upload in parts whose permission has expired, else ""
   */
  String sign(
      String secret, String query, long claim, long size, String sha256s, String begun);

  /** All parts of an upload were sent; the store's tags for them, separated by spaces. */
  String finish(String secret, String query, long claim, String key, String etags);

  /** The run's thread has ended. */
  String end(String secret, String query, long claim);
}
