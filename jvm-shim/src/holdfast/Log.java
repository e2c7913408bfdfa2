package holdfast;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver's log, where people who run Spark look first. */
final class Log {
  private static final Logger LOG = LoggerFactory.getLogger("holdfast");

  private Log() {}

  /** What Python wants the log to say of an event; one line a person can read. */
  static void told(Reply reply) throws IOException {
    if (reply.size() > 1 && !reply.text(1).isEmpty()) {
      LOG.info(reply.text(1));
    }
  }

  /** Logs a line at the level that Python chose, {@code warn} or {@code info}. */
  static void at(String level, String text) {
    if (level.equals("warn")) {
      LOG.warn(text);
    } else {
      LOG.info(text);
    }
  }

  static void info(String text) {
    LOG.info(text);
  }

  static void warn(String text, Throwable cause) {
    LOG.warn(text, cause);
  }
}
