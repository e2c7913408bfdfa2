package holdfast;

import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * Transfers with servers that stall and drip, whose addresses are the arguments: {@code name=url}.
 * The pace is that of a test: 1,000 bytes in 600 ms.
 */
final class Transfers {
  private static final Attempt.Pace PACE = new Attempt.Pace(600, 1000);
  private static final int BYTES = 1 << 16;
  private static final long UPLOAD_BYTES = 64L << 20;

  private Transfers() {}

  public static void main(String[] arguments) throws Exception {
    for (String argument : arguments) {
      int at = argument.indexOf('=');
      String name = argument.substring(0, at);
      System.out.println(name + ": " + outcome(name, argument.substring(at + 1)));
    }
    System.exit(0);
  }

  private static String outcome(String name, String url) throws Exception {
    File file = File.createTempFile("holdfast-transfers-", "");
    try {
      if (name.startsWith("upload")) {
        return upload(url, file);
      } else if (name.startsWith("interrupt")) {
        return interrupted(url, file);
      } else if (name.startsWith("second")) {
        return second(url, file);
      }
      Transfer.get(ticket(url, BYTES), file, PACE);
      return isWhole(file) ? "whole" : "wrong bytes";
    } catch (IOException error) {
      return error.getMessage();
    } finally {
      file.delete();
    }
  }

  private static String upload(String url, File file) throws IOException {
    try (RandomAccessFile whole = new RandomAccessFile(file, "rw")) {
      whole.setLength(UPLOAD_BYTES);
    }
    return Transfer.upload(file, 0, ticket(url, UPLOAD_BYTES), PACE);
  }

  /** The first attempt is given up; what its server sends later does not reach the file. */
  private static String second(String url, File file) throws Exception {
    Ticket ticket = ticket(url, BYTES);
    Transfer.download(Source.of(ticket, () -> Source.of(ticket, null)), file, PACE);
    Thread.sleep(1000);
    return isWhole(file) ? "whole" : "wrong bytes";
  }

  /** A task that is killed does not wait for its server. */
  private static String interrupted(String url, File file) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    String[] told = new String[1];
    Attempt.Pace patient = new Attempt.Pace(600_000, 1000);
    Thread task =
        new Thread(
            () -> {
              begun.countDown();
              try {
                Transfer.get(ticket(url, BYTES), file, patient);
              } catch (InterruptedIOException stopped) {
                told[0] = Thread.currentThread().isInterrupted() ? "interrupted" : "cleared";
              } catch (IOException error) {
                told[0] = error.toString();
              }
            });
    task.start();
    begun.await();
    Thread.sleep(300);
    task.interrupt();
    task.join();
    return told[0];
  }

  /** A server of the test sends zeros. */
  private static Ticket ticket(String url, long size) throws IOException {
    Digest digest = new Digest();
    digest.add(new byte[BYTES], BYTES);
    return new Ticket(new String[] {"http", "key", "" + size, digest.hex(), "-1", url, ""});
  }

  private static boolean isWhole(File file) throws IOException {
    return Arrays.equals(Files.readAllBytes(file.toPath()), new byte[BYTES]);
  }
}
