package holdfast;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Options.ChecksumOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The same filesystem for Hadoop's FileContext, which Spark's checkpoint manager uses.
 *
 * <p>Creating and renaming are overridden: the inherited ones ask for the status of six paths, and
 * from an executor each would be a message.
 */
public final class HoldfastFs extends DelegateToFileSystem {
  private final HoldfastFileSystem files;

  /** Called by Hadoop, by reflection. */
  public HoldfastFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    this(uri, conf, new HoldfastFileSystem());
  }

  private HoldfastFs(URI uri, Configuration conf, HoldfastFileSystem files)
      throws IOException, URISyntaxException {
    super(uri, files, conf, HoldfastFileSystem.SCHEME, false);
    this.files = files;
  }

  @Override
  public int getUriDefaultPort() {
    return -1;
  }

  @Override
  public FSDataOutputStream createInternal(
      Path path,
      EnumSet<CreateFlag> flags,
      FsPermission permission,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      ChecksumOpt checksum,
      boolean createParent)
      throws IOException {
    checkPath(path);
    if (flags.contains(CreateFlag.APPEND)) {
      throw HoldfastFileSystem.noAppend(path);
    }
    return files.write(path, flags.contains(CreateFlag.OVERWRITE));
  }

  @Override
  public void renameInternal(Path from, Path to) throws IOException {
    renameInternal(from, to, false);
  }

  @Override
  public void renameInternal(Path from, Path to, boolean overwrite) throws IOException {
    checkPath(from);
    checkPath(to);
    files.move(from, to, overwrite);
  }
}
