package holdfast;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.NavigableMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The scheme {@code holdfast:}: what Spark thinks is a directory tree.
 *
 * <p>Spark calls it on the stream thread, on task threads and on its maintenance threads, in the
 * driver and in executors. It keeps nothing but its configuration, and decides nothing.
 */
public final class HoldfastFileSystem extends FileSystem {
  static final String SCHEME = "holdfast";
  private static final String MANAGER = "spark.sql.streaming.checkpointFileManagerClass";
  private static final String OWN_MANAGERS = "BasedCheckpointFileManager";

  private URI uri;
  private Writers writers;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    String authority = name.getAuthority();
    uri = URI.create(SCHEME + "://" + (authority == null ? "/" : authority));
    writers = Writers.of(conf);
    String manager = conf.get(MANAGER);
    if (manager != null && (!manager.endsWith(OWN_MANAGERS) || manager.contains("Abortable"))) {
      throw new HoldfastException(
          "ConfigError: " + MANAGER + " is " + manager + ", which does not report a failed commit"
              + " (unset it for queries on holdfast:, or use spark.conf.unset before start)");
    }
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    Location at = at(path);
    Draft draft = draft(at);
    if (draft != null) {
      return new FSDataInputStream(new BytesInput(draft.bytes()));
    }
    Source source = Registry.names().open(at, writers.of(at));
    return new FSDataInputStream(
        source.bytes == null ? new FileInput(source) : new BytesInput(source.bytes));
  }

  /** Write a file that appears when it is closed, or is kept until it is renamed. */
  FSDataOutputStream write(Path path, boolean overwrite) throws IOException {
    Location at = at(path);
    Namespace names = Registry.names();
    if (Drafts.isTemporary(at)) {
      Draft draft = new Draft(names.largeBytes());
      Registry.DRAFTS.put(at, draft);
      return new FSDataOutputStream(draft, statistics);
    }
    Entry there = names.stat(at);
    if (there != null && (there.directory || !overwrite)) {
      throw new FileAlreadyExistsException(path + " exists");
    }
    Location parent = at.parent();
    Entry above = parent == null ? null : names.stat(parent);
    if (above != null && !above.directory) {
      throw new ParentNotDirectoryException(parent + " is a file");
    }
    return new FSDataOutputStream(
        new Publication(names, at, overwrite, writers.of(at)), statistics);
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
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    throw noAppend(path);
  }

  static UnsupportedOperationException noAppend(Path path) {
    return new UnsupportedOperationException("a file of holdfast: is written once: " + path);
  }

  /** Rename with the meaning of FileContext: a lost race throws FileAlreadyExistsException. */
  void move(Path from, Path to, boolean overwrite) throws IOException {
    Location source = at(from);
    Location target = at(to);
    Draft draft = Drafts.isTemporary(source) ? Registry.DRAFTS.take(source) : null;
    if (draft != null) {
      draft.publish(Registry.names(), target, overwrite, writers.of(target));
    } else {
      Registry.names().rename(source, target, overwrite, writers.of(target));
    }
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

  /** Rename with the older meaning: false where the source is absent or the target is taken. */
  @Override
  public boolean rename(Path from, Path to) throws IOException {
    Entry target = Registry.names().stat(at(to));
    Path into = target != null && target.directory ? new Path(to, from.getName()) : to;
    try {
      move(from, into, false);
      return true;
    } catch (FileNotFoundException | FileAlreadyExistsException refused) {
      return false;
    }
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    Location at = at(path);
    Draft draft = Drafts.isTemporary(at) ? Registry.DRAFTS.take(at) : null;
    if (draft != null) {
      draft.discard();
      return true;
    }
    return Registry.names().delete(at, recursive, writers.of(at));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    NavigableMap<String, Entry> found = Registry.names().list(at(path));
    if (found == null) {
      return new FileStatus[] {getFileStatus(path)};
    }
    FileStatus[] statuses = new FileStatus[found.size()];
    int position = 0;
    for (Map.Entry<String, Entry> each : found.entrySet()) {
      statuses[position++] = status(new Path(path, each.getKey()), each.getValue());
    }
    return statuses;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    Location at = at(path);
    Draft draft = draft(at);
    if (draft != null) {
      return status(path, Entry.file(draft.size(), 0, null));
    }
    Entry entry = at.path.isEmpty() ? Entry.directory(0, 0) : Registry.names().stat(at);
    if (entry == null) {
      throw new FileNotFoundException(path + " does not exist");
    }
    return status(path, entry);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    Location at = at(path);
    Registry.names().mkdirs(at, writers.of(at));
    return true;
  }

  /** RocksDB's upload: the length is known, so there is nothing to ask before. */
  @Override
  public void copyFromLocalFile(boolean deleteSource, boolean overwrite, Path from, Path to)
      throws IOException {
    Location at = at(to);
    File file = new File(from.toUri().getPath());
    Draft.publish(Registry.names(), file, at, overwrite, writers.of(at));
    if (deleteSource && !file.delete()) {
      throw new IOException("cannot delete " + file);
    }
  }

  /** RocksDB's download: a large file goes straight to where it is wanted. */
  @Override
  public void copyToLocalFile(boolean deleteSource, Path from, Path to, boolean raw)
      throws IOException {
    Location at = at(from);
    Source source = Registry.names().open(at, writers.of(at));
    LocalCopy.write(source, new File(to.toUri().getPath()));
    if (deleteSource) {
      delete(from, false);
    }
  }

  @Override
  public void setWorkingDirectory(Path path) {
    throw new UnsupportedOperationException("paths of holdfast: are absolute");
  }

  @Override
  public Path getWorkingDirectory() {
    return new Path("/");
  }

  private Location at(Path path) {
    return Location.of(makeQualified(path));
  }

  private static Draft draft(Location at) {
    return Drafts.isTemporary(at) ? Registry.DRAFTS.get(at) : null;
  }

  private FileStatus status(Path path, Entry entry) {
    return new FileStatus(
        entry.size, entry.directory, 1, getDefaultBlockSize(path), entry.modifiedMs,
        makeQualified(path));
  }
}
