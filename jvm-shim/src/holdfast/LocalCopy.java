package holdfast;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Writes a file of the store to local disk: whole, with its parents, or nothing. */
final class LocalCopy {
  private LocalCopy() {}

  static void write(Source source, File to) throws IOException {
    File parent = to.getParentFile();
    if (parent != null && !parent.isDirectory() && !parent.mkdirs() && !parent.isDirectory()) {
      throw new IOException("cannot make the directory " + parent);
    }
    boolean whole = false;
    try {
      if (source.ticket != null) {
        Transfer.download(source, to);
      } else {
        try (OutputStream out = new FileOutputStream(to)) {
          out.write(source.bytes);
        }
      }
      whole = true;
    } finally {
      if (!whole && !to.delete() && to.exists()) {
        Log.info("a part of a download stays: " + to);
      }
    }
  }
}
