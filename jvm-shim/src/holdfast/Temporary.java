package holdfast;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Local files that only their owner may read, and that end with their use, or with this process.
 *
 * <p>Not {@code File.deleteOnExit}, which remembers every path for as long as the process lives.
 */
final class Temporary {
  private static final Set<File> THERE = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> THERE.forEach(File::delete)));
  }

  private Temporary() {}

  static File create(String suffix) throws IOException {
    File file = Files.createTempFile("holdfast-", suffix).toFile();
    THERE.add(file);
    return file;
  }

  static void delete(File file) {
    THERE.remove(file);
    if (!file.delete() && file.exists()) {
      Log.info("a temporary file stays: " + file);
    }
  }
}
