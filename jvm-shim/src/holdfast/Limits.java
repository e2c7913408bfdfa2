package holdfast;

/** What one message of an executor, and all messages for one query, may cost the driver. */
final class Limits {
  /** Bytes of one text in a message or an answer: a path, hashes, a line of a ticket. */
  static final int TEXT_BYTES_MAX = 64 << 10;

  /** Bytes of a message that carries no file. */
  static final int MESSAGE_BYTES_MAX = 256 << 10;

  /** Bytes of a file that goes through the driver, unless the setting allows larger ones. */
  static final long DRIVER_FILE_BYTES_MAX = 64L << 20;

  /** Bytes of the names in the answer to a listing. */
  static final int LISTING_BYTES_MAX = 32 << 20;

  /** Up to this size, a listing's answer also carries the state files that the task opens next. */
  static final int HYDRATED_BYTES_MAX = 8 << 20;

  /** Large files of one query that were signed and are neither published nor given up. */
  static final int UPLOADS_MAX = 100_000;

  /** Answers that wait until their executor asks again. */
  static final int REPLIES_MAX = 20_000;

  /** Bytes of such answers; beyond that, no further answer is prepared until some are fetched. */
  static final long REPLY_BYTES_MAX = 256L << 20;

  private Limits() {}

  /**
   * Refuse what is over a limit.
   *
   * @param what is limited, in plural
   */
  static void require(String what, long count, long limit) throws HoldfastException {
    if (count > limit) {
      throw new HoldfastException(
          "MisuseError: " + what + " are limited to " + limit + ", not " + count);
    }
  }

  /** The limit of a file that goes through the driver, under a setting of largeFileBytes. */
  static long driverFileBytes(long largeBytes) {
    return Math.min(Integer.MAX_VALUE, Math.max(DRIVER_FILE_BYTES_MAX, largeBytes));
  }
}
