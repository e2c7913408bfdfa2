package holdfast;

import java.io.IOException;
import java.util.NavigableMap;

/**
 * The files of all queries, as this process reaches them: the driver has them in memory, an
 * executor asks the driver.
 *
 * <p>{@code writer} is the number of the start that the caller belongs to, 0 if it is not known.
 */
interface Namespace {
  /** The entry at a path, null if there is none. */
  Entry stat(Location at) throws IOException;

  /** What a directory holds, by name; null if it is none. */
  NavigableMap<String, Entry> list(Location at) throws IOException;

  /** A file's bytes, or a ticket for them. */
  Source open(Location at, long writer) throws IOException;

  void mkdirs(Location at, long writer) throws IOException;

  void publish(Location at, Content content, boolean overwrite, long writer) throws IOException;

  void rename(Location from, Location to, boolean overwrite, long writer) throws IOException;

  boolean delete(Location at, boolean recursive, long writer) throws IOException;

  /**
   * A ticket to upload a file that is too large to go through the driver.
   *
   * @param begun the key of an upload in parts whose permission has expired, else ""
   */
  Ticket sign(Location at, long size, String sha256s, String begun, long writer)
      throws IOException;

  /** All parts of an upload were sent: make one object of them. */
  void finish(Location at, String key, String etags, long writer) throws IOException;

  /** Bring the newest state of a state store's directory near, in one call. */
  void hydrate(Location at) throws IOException;

  /** A state store has loaded a version from this directory: a recovery event. */
  void loaded(Location at, long version, long milliseconds) throws IOException;

  /** From which size on a file goes to the store by itself. */
  long largeBytes() throws IOException;
}
