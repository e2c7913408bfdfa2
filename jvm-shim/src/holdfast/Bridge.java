package holdfast;

import java.io.IOException;
import java.io.InputStream;

/** What Python calls: everything else goes the other way, through {@link PythonSide}. */
public final class Bridge {
  private Bridge() {}

  /** The version that this jar was built as; Python compares it with its own. */
  public static String version() throws IOException {
    try (InputStream in = Bridge.class.getResourceAsStream("version")) {
      byte[] bytes = new byte[64];
      int count = in == null ? -1 : in.read(bytes);
      return count < 0 ? "unknown" : new String(bytes, 0, count, "UTF-8").trim();
    }
  }

  /** Whether the plugin runs in this context. */
  public static boolean isLoaded() {
    return Registry.driver() != null;
  }

  /**
   * Python is ready to decide; a second call replaces the first.
   *
   * @param secret what every call of {@code python} must carry
   */
  public static void attach(
      PythonSide python,
      String secret,
      long spoolBytesMax,
      long largeBytes,
      long permitMs,
      long stores)
      throws IOException {
    Driver driver = Registry.driver();
    if (driver == null) {
      throw new HoldfastException("BridgeError: the Holdfast plugin is not loaded");
    }
    PythonCalls calls = new PythonCalls(python, secret);
    driver.attach(new Driver.Side(calls, spoolBytesMax, largeBytes, permitMs, stores));
  }

  /** How many messages of executors of each kind this driver has answered. */
  public static String messages() {
    ExecutorRequests requests = Registry.requests();
    return requests == null ? "{}" : requests.counts().toString();
  }

  /** Answer a message as one of an executor is answered; for tests that send strange ones. */
  public static byte[] answer(byte[] message) {
    ExecutorRequests requests = Registry.requests();
    return requests == null ? new byte[0] : requests.answer(message);
  }

  /** Python ends, and is not to be called any more. */
  public static void detach() {
    Driver driver = Registry.driver();
    if (driver != null) {
      driver.attach(null);
    }
  }
}
