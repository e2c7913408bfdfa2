package bench;

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
 * The floor for Hadoop's FileContext, which Spark's checkpoint manager uses.
 *
 * <p>Creating and renaming skip the look-ups that the inherited ones make, so that nothing cheaper
 * can be measured against.
 */
public final class MemoryFs extends DelegateToFileSystem {
  private final MemoryFileSystem files;

  /** Called by Hadoop, by reflection. */
  public MemoryFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    this(uri, conf, new MemoryFileSystem());
  }

  private MemoryFs(URI uri, Configuration conf, MemoryFileSystem files)
      throws IOException, URISyntaxException {
    super(uri, files, conf, MemoryFileSystem.SCHEME, false);
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
    return files.write(path, flags.contains(CreateFlag.OVERWRITE));
  }

  @Override
  public void renameInternal(Path from, Path to) throws IOException {
    renameInternal(from, to, false);
  }

  @Override
  public void renameInternal(Path from, Path to, boolean overwrite) throws IOException {
    files.move(from, to, overwrite);
  }
}
