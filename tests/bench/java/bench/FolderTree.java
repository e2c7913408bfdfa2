package bench;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The floor's files in a folder, for processes that must share them. In a machine's memory
 * ({@code /dev/shm}) it is the least that a shared checkpoint can cost: a system call or two, no
 * checksum, no permission, no waiting for a disk.
 */
final class FolderTree implements Tree {
  private static final OpenOption[] NEW = {StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE};
  private static final OpenOption[] ANY = {
    StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE
  };

  private final File folder;

  FolderTree(File folder) {
    this.folder = folder;
  }

  @Override
  public Node get(String path) throws IOException {
    try {
      return node(Files.readAttributes(at(path), BasicFileAttributes.class));
    } catch (NoSuchFileException none) {
      return null;
    }
  }

  @Override
  public byte[] read(String path) throws IOException {
    try {
      return Files.readAllBytes(at(path));
    } catch (NoSuchFileException none) {
      throw absent(path);
    }
  }

  @Override
  public SortedMap<String, Node> list(String path) throws IOException {
    String[] names = at(path).toFile().list();
    if (names == null) {
      return null;
    }
    SortedMap<String, Node> found = new TreeMap<>();
    for (String name : names) {
      Node node = get(path + "/" + name);
      if (node != null) { // else it went since it was listed
        found.put(name, node);
      }
    }
    return found;
  }

  @Override
  public void mkdirs(String path) throws IOException {
    Files.createDirectories(at(path));
  }

  @Override
  public void put(String path, byte[] bytes, boolean overwrite) throws IOException {
    Path target = at(path);
    OpenOption[] how = overwrite ? ANY : NEW;
    try {
      Files.write(target, bytes, how);
    } catch (NoSuchFileException noDirectory) {
      Files.createDirectories(target.getParent());
      Files.write(target, bytes, how);
    }
  }

  @Override
  public void rename(String from, String to, boolean overwrite) throws IOException {
    try {
      if (overwrite) {
        Files.move(at(from), at(to), StandardCopyOption.ATOMIC_MOVE);
      } else {
        Files.createLink(at(to), at(from)); // a rename would replace what is there
        Files.delete(at(from));
      }
    } catch (FileAlreadyExistsException taken) {
      throw new org.apache.hadoop.fs.FileAlreadyExistsException(to + " exists");
    } catch (NoSuchFileException none) {
      throw absent(from);
    }
  }

  @Override
  public boolean delete(String path, boolean recursive) throws IOException {
    SortedMap<String, Node> inside = recursive ? list(path) : null;
    if (inside != null) {
      for (String name : inside.keySet()) {
        delete(path + "/" + name, true);
      }
    }
    return Files.deleteIfExists(at(path));
  }

  private Path at(String path) {
    return new File(folder, path).toPath();
  }

  private static Node node(BasicFileAttributes found) {
    long modifiedMs = found.lastModifiedTime().toMillis();
    return found.isDirectory()
        ? Node.directory(modifiedMs)
        : Node.file(found.size(), modifiedMs);
  }

  private static FileNotFoundException absent(String path) {
    return new FileNotFoundException(path + " is not a file");
  }
}
