package probe;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.api.java.UDF1;
import py4j.GatewayServer;

/**
 * A door into an executor: called as a function of SQL it listens in the JVM of its task, so that a
 * test can use the filesystem from there as others do from the driver.
 */
public final class Probe implements UDF1<Long, Integer> {
  private static final long serialVersionUID = 1;
  private static final int BUFFER_BYTES = 1 << 20;

  private static GatewayServer server;

  private transient ClassLoader loader;

  /** On a task's thread; returns the port on 127.0.0.1, the same for all tasks of a process. */
  @Override
  public Integer call(Long ignored) {
    synchronized (Probe.class) {
      if (server == null) {
        Probe entry = new Probe();
        entry.loader = Thread.currentThread().getContextClassLoader();
        server = new GatewayServer.GatewayServerBuilder(entry).javaPort(0).build();
        server.start(true);
      }
      return server.getListeningPort();
    }
  }

  /** A configuration as tasks have it, of pairs {@code key=value} with a NUL between them. */
  public Configuration configuration(String pairs) {
    Configuration conf = new Configuration();
    conf.setClassLoader(loader);
    for (String pair : pairs.split("\u0000")) {
      int at = pair.indexOf('=');
      conf.set(pair.substring(0, at), pair.substring(at + 1));
    }
    return conf;
  }

  /** Everything that Spark told this executor of its settings. */
  public String settings() {
    return SparkEnv.get().conf().toDebugString();
  }

  /** Write so many bytes, which differ from seed to seed; returns their SHA-256. */
  public String write(Configuration conf, String name, long bytes, long seed)
      throws IOException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[BUFFER_BYTES];
    Random random = new Random(seed);
    Path path = new Path(name);
    FileSystem files = path.getFileSystem(conf);
    try (OutputStream out = files.create(path, true)) {
      for (long left = bytes; left > 0; left -= buffer.length) {
        random.nextBytes(buffer);
        int count = (int) Math.min(buffer.length, left);
        out.write(buffer, 0, count);
        digest.update(buffer, 0, count);
      }
    }
    return hex(digest);
  }

  /** The SHA-256 of a file as it is read. */
  public String read(Configuration conf, String name)
      throws IOException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[BUFFER_BYTES];
    Path path = new Path(name);
    try (InputStream in = path.getFileSystem(conf).open(path)) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        digest.update(buffer, 0, count);
      }
    }
    return hex(digest);
  }

  private static String hex(MessageDigest digest) {
    StringBuilder text = new StringBuilder();
    for (byte each : digest.digest()) {
      text.append(String.format("%02x", each));
    }
    return text.toString();
  }
}
