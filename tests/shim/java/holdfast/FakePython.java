package holdfast;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Says yes to everything, and counts claims. */
final class FakePython implements PythonSide {
  static final int FILE_BYTES = 1 << 18;

  volatile boolean failing;
  volatile CountDownLatch signing;
  volatile CountDownLatch asked;
  volatile CountDownLatch answered;
  private long claim = 10;
  private long views;
  volatile int files;
  volatile String journal = "";
  volatile String kind = "http";
  private final AtomicInteger drawn = new AtomicInteger();
  private volatile File directory;

  @Override
  public String recover(
      String secret, String store, String path, boolean start, long known) {
    try {
      directory = Files.createTempDirectory("holdfast-schedules-").toFile();
      StringBuilder catalog = new StringBuilder();
      for (int file = 0; file < files; file++) {
        catalog.append("state/").append(file).append("\t").append(FILE_BYTES).append("\t1\t-1\n");
      }
      write("catalog", catalog.toString().getBytes(StandardCharsets.UTF_8));
      String number = start ? "" + ++claim : "-" + ++views;
      if (!start && asked != null) {
        asked.countDown();
        answered.await();
      }
      return "ok\norders\n" + number + "\n1\n" + directory + "\ncatalog\n\ntext\ninfo";
    } catch (IOException | InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  @Override
  public String begin(
      String secret, String query, long by, String execution, String trigger, String thread) {
    return "ok";
  }

  @Override
  public String intent(String secret, String query, long by, long batch, String journal) {
    return "ok";
  }

  @Override
  public String commit(String secret, String query, long by, long batch, String journal) {
    if (failing) {
      throw new OutOfMemoryError("on purpose");
    }
    this.journal = journal;
    return "ok\ntext\ncheckpoint=1";
  }

  @Override
  public String fetch(String secret, String query, long by, String path, String known) {
    byte[] bytes = new byte[FILE_BYTES];
    bytes[0] = Byte.parseByte(path.substring("state/".length()));
    String segment = "pack-" + drawn.incrementAndGet();
    try {
      write(segment, bytes);
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
    return "ok\n" + segment + "\n" + path + "\t1\t0";
  }

  @Override
  public String sign(
      String secret, String query, long by, long size, String hashes, String begun) {
    if (failing) {
      throw new OutOfMemoryError("on purpose");
    }
    await(signing);
    String key = "files/" + drawn.incrementAndGet();
    return "ok\n" + kind + "\n" + key + "\n" + size + "\n" + hashes + "\n-1\naddress\n";
  }

  @Override
  public String finish(String secret, String query, long by, String key, String etags) {
    return "ok";
  }

  private static void await(CountDownLatch latch) {
    try {
      if (latch != null) {
        latch.await();
      }
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private void write(String name, byte[] bytes) throws IOException {
    Files.write(new File(directory, name).toPath(), bytes);
  }

  @Override
  public String end(String secret, String query, long by) {
    return "ok\ntext";
  }
}
