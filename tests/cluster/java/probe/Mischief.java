package probe;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.api.java.UDF2;

/** Called as a function of SQL: writes to a checkpoint from a task, as no task of Spark does. */
public final class Mischief implements UDF2<String, String, String> {
  private static final long serialVersionUID = 1;

  /** Returns "done", or the error's text. */
  @Override
  public String call(String verb, String name) {
    Path path = new Path(name);
    try {
      FileSystem files = path.getFileSystem(conf());
      switch (verb) {
        case "mkdirs":
          files.mkdirs(path);
          break;
        case "delete":
          files.delete(path, true);
          break;
        case "rename":
          files.rename(path, new Path(path.getParent(), "renamed"));
          break;
        default:
          try (OutputStream out = files.create(path, true)) {
            out.write("v1".getBytes("UTF-8"));
          }
      }
      return "done";
    } catch (IOException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  private static Configuration conf() {
    Configuration conf = new Configuration();
    conf.setClassLoader(Thread.currentThread().getContextClassLoader());
    conf.set("fs.holdfast.impl", "holdfast.HoldfastFileSystem");
    return conf;
  }
}
