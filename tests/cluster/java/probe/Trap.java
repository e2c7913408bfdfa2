package probe;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.apache.spark.sql.api.java.UDF2;

/**
 * Holds tasks where a test wants them: called as a function of SQL with a value, which it gives
 * back, and a folder.
 *
 * <p>While the folder has a file {@code hold}, a task waits here, and a file {@code at-PID} says in
 * which process; {@code hold-PID} holds those of one process only. Who waits takes no notice of an
 * interrupt, like a task that hangs in a call of the system.
 */
public final class Trap implements UDF2<Long, String, Long> {
  private static final long serialVersionUID = 1;
  private static final long LOOK_MS = 10;

  @Override
  public Long call(Long value, String folder) throws IOException {
    String pid = ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
    File all = new File(folder, "hold");
    File own = new File(folder, "hold-" + pid);
    if (all.exists() || own.exists()) {
      File at = new File(folder, "at-" + pid);
      Files.write(at.toPath(), new byte[0], StandardOpenOption.CREATE);
      while (all.exists() || own.exists()) {
        look();
      }
    }
    return value;
  }

  private static void look() {
    try {
      Thread.sleep(LOOK_MS);
    } catch (InterruptedException ignored) {
      Thread.interrupted();
    }
  }
}
