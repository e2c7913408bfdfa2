package holdfast;

import java.io.IOException;
import java.io.OutputStream;

/** A file that is written under its own name: closing publishes it, or throws. */
final class Publication extends OutputStream {
  private final Namespace names;
  private final Location at;
  private final boolean overwrite;
  private final long writer;
  private final Draft draft;
  private boolean broken;

  Publication(Namespace names, Location at, boolean overwrite, long writer) throws IOException {
    this.names = names;
    this.at = at;
    this.overwrite = overwrite;
    this.writer = writer;
    this.draft = new Draft(names.largeBytes());
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    try {
      draft.write(bytes, from, count);
    } catch (IOException error) {
      broken = true;
      throw error;
    }
  }

  @Override
  public void close() throws IOException {
    if (draft.isClosed()) {
      return;
    }
    draft.close();
    if (broken) {
      draft.discard();
      throw new IOException("the file was not written whole, so it is not published: " + at);
    }
    draft.publish(names, at, overwrite, writer);
  }
}
