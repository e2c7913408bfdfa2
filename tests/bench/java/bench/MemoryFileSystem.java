package bench;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.Map;
import java.util.SortedMap;
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
 * The scheme {@code floor:}, files in this JVM's memory, or in a folder that several JVMs share:
 * what a checkpoint costs when keeping it costs nothing. Nothing is durable.
 *
 * <p>Spark calls it on the stream thread, on task threads and on its maintenance threads.
 */
public final class MemoryFileSystem extends FileSystem {
  static final String SCHEME = "floor";
  private static final URI ROOT = URI.create(SCHEME + ":///");
  private static final String FOLDER = "bench.floor.folder";

  private Tree tree;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    String folder = conf.get(FOLDER, "");
    tree = folder.isEmpty() ? MemoryTree.TREE : new FolderTree(new File(folder));
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
    return new FSDataInputStream(new MemoryInput(tree.read(at(path))));
  }

  /** Write a file that appears when it is closed. */
  FSDataOutputStream write(Path path, boolean overwrite) throws IOException {
    String at = at(path);
    if (!overwrite && tree.get(at) != null) {
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
    tree.rename(at(from), at(to), overwrite);
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
    return tree.delete(at(path), recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    SortedMap<String, Tree.Node> found = tree.list(at(path));
    if (found == null) {
      return new FileStatus[] {getFileStatus(path)};
    }
    FileStatus[] statuses = new FileStatus[found.size()];
    int position = 0;
    for (Map.Entry<String, Tree.Node> each : found.entrySet()) {
      statuses[position++] = status(new Path(path, each.getKey()), each.getValue());
    }
    return statuses;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    Tree.Node node = tree.get(at(path));
    if (node == null) {
      throw new FileNotFoundException(path + " does not exist");
    }
    return status(path, node);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    tree.mkdirs(at(path));
    return true;
  }

  /** RocksDB's upload, without Hadoop's local filesystem, which forks for permissions. */
  @Override
  public void copyFromLocalFile(boolean deleteSource, boolean overwrite, Path from, Path to)
      throws IOException {
    File file = new File(from.toUri().getPath());
    tree.put(at(to), Files.readAllBytes(file.toPath()), overwrite);
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
    Files.write(file.toPath(), tree.read(at(from)));
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

  private FileStatus status(Path path, Tree.Node node) {
    return new FileStatus(
        node.isDirectory() ? 0 : node.size,
        node.isDirectory(),
        1,
        1 << 20,
        node.modifiedMs,
        makeQualified(path));
  }

  /** A file that is being written; closing puts it where it belongs. */
  private final class Written extends ByteArrayOutputStream {
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
        tree.put(at, toByteArray(), overwrite);
      }
    }
  }
}
