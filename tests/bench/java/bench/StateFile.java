package bench;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Random;
import java.util.UUID;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.api.java.UDF4;

/**
 * Writes one partition's small state file on an executor, as Spark's provider does: a temporary
 * file and its rename.
 *
 * <p>Called as a function of SQL: partition, bytes, the query's root, the configuration's pairs.
 * Returns nanoseconds.
 */
public final class StateFile implements UDF4<Long, Integer, String, String, Long> {
  private static final long serialVersionUID = 1;

  @Override
  public Long call(Long partition, Integer bytes, String root, String pairs) throws IOException {
    FileContext files = FileContext.getFileContext(new Path(root).toUri(), Moving.conf(pairs));
    byte[] state = new byte[bytes];
    new Random(partition).nextBytes(state);
    Path path = new Path(root, "state/0/" + partition + "/1.delta");
    Path temporary = new Path(path.getParent(), ".1.delta." + UUID.randomUUID() + ".tmp");
    long started = System.nanoTime();
    try (FSDataOutputStream out =
        files.create(temporary, EnumSet.of(CreateFlag.CREATE), CreateOpts.createParent())) {
      out.write(state);
    }
    files.rename(temporary, path, Rename.OVERWRITE);
    return System.nanoTime() - started;
  }
}
