package bench;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The scheme {@code floor:}, files in this JVM's memory: what a checkpoint costs when keeping it
 * costs nothing. Nothing is durable, and nothing outlives the process.
 *
 * <p>Spark calls it on the stream thread, on task threads and on its maintenance threads.
 */
public final class MemoryFileSystem extends FileSystem {
  static final String SCHEME = "floor";
  private static final URI ROOT = URI.create(SCHEME + ":///");

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public URI getUri() {
    return ROOT;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(new MemoryInput(file(path)));
  }

  /** Write a file that appears when it is closed. */
  FSDataOutputStream write(Path path, boolean overwrite) throws IOException {
    String at = at(path);
    if (!overwrite && MemoryTree.TREE.get(at) != null) {
      throw new FileAlreadyExistsException(path + " exists");
    }
    return new FSDataOutputStream(new Written(at, overwrite), statistics);
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return write(path, overwrite);
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException("the floor appends nothing: " + path);
  }

  /** Rename with the meaning of FileContext: a lost race throws. */
  void move(Path from, Path to, boolean overwrite) throws IOException {
    MemoryTree.TREE.rename(at(from), at(to), overwrite);
  }

  @Override
  @SuppressWarnings("deprecation") // Hadoop keeps it out of the way of applications, not of stores
  protected void rename(Path from, Path to, Rename... options) throws IOException {
    boolean overwrite = false;
    for (Rename option : options) {
      overwrite |= option == Rename.OVERWRITE;
    }
    move(from, to, overwrite);
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    try {
      move(from, to, false);
      return true;
    } catch (FileNotFoundException | FileAlreadyExistsException refused) {
      return false;
    }
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return MemoryTree.TREE.delete(at(path), recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    TreeMap<String, MemoryTree.Node> found = MemoryTree.TREE.list(at(path));
    if (found == null) {
      return new FileStatus[] {getFileStatus(path)};
    }
    FileStatus[] statuses = new FileStatus[found.size()];
    int position = 0;
    for (Map.Entry<String, MemoryTree.Node> each : found.entrySet()) {
      statuses[position++] = status(new Path(path, each.getKey()), each.getValue());
    }
    return statuses;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    MemoryTree.Node node = MemoryTree.TREE.get(at(path));
    if (node == null) {
      throw new FileNotFoundException(path + " does not exist");
    }
    return status(path, node);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    MemoryTree.TREE.mkdirs(at(path));
    return true;
  }

  /** RocksDB's upload, without Hadoop's local filesystem, which forks for permissions. */
  @Override
  public void copyFromLocalFile(boolean deleteSource, boolean overwrite, Path from, Path to)
      throws IOException {
    File file = new File(from.toUri().getPath());
    MemoryTree.TREE.put(at(to), Files.readAllBytes(file.toPath()), overwrite);
    if (deleteSource) {
      Files.delete(file.toPath());
    }
  }

  /** RocksDB's download, likewise. */
  @Override
  public void copyToLocalFile(boolean deleteSource, Path from, Path to, boolean raw)
      throws IOException {
    File file = new File(to.toUri().getPath());
    Files.createDirectories(file.toPath().getParent());
    Files.write(file.toPath(), file(from));
    if (deleteSource) {
      delete(from, false);
    }
  }

  @Override
  public void setWorkingDirectory(Path path) {
    throw new UnsupportedOperationException("paths of floor: are absolute");
  }

  @Override
  public Path getWorkingDirectory() {
    return new Path("/");
  }

  private static String at(Path path) {
    return path.toUri().getPath();
  }

  private static byte[] file(Path path) throws IOException {
    MemoryTree.Node node = MemoryTree.TREE.get(at(path));
    if (node == null || node.bytes == null) {
      throw new FileNotFoundException(path + " is not a file");
    }
    return node.bytes;
  }

  private FileStatus status(Path path, MemoryTree.Node node) {
    long size = node.bytes == null ? 0 : node.bytes.length;
    return new FileStatus(
        size, node.bytes == null, 1, 1 << 20, node.modifiedMs, makeQualified(path));
  }

  /** A file that is being written; closing puts it into the tree. */
  private static final class Written extends ByteArrayOutputStream {
    private final String at;
    private final boolean overwrite;
    private boolean closed;

    Written(String at, boolean overwrite) {
      this.at = at;
      this.overwrite = overwrite;
    }

    @Override
    public void close() throws IOException {
      if (!closed) {
        closed = true;
        MemoryTree.TREE.put(at, toByteArray(), overwrite);
      }
    }
  }
}
