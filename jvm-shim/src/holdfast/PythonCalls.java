package holdfast;

import java.io.IOException;

/**
 * Calls Python and reads its answers.
 *
 * <p>PySpark's callback server takes calls from every local process, so each call carries the
 * secret that Python passed to {@link Bridge#attach} over the authenticated gateway. The secret is
 * never logged.
 */
final class PythonCalls {
  private final PythonSide python;
  private final String secret;

  PythonCalls(PythonSide python, String secret) {
    this.python = python;
    this.secret = secret;
  }

  Reply recover(Location at, boolean start, long known) throws IOException {
    return Reply.of(python.recover(secret, at.store, at.path, start, known));
  }

  Reply begin(String query, long claim, String execution, String trigger, String thread)
      throws IOException {
    return Reply.of(python.begin(secret, query, claim, execution, trigger, thread));
  }

  Reply intent(String query, long claim, long batch, String journal) throws IOException {
    return Reply.of(python.intent(secret, query, claim, batch, journal));
  }

  Reply commit(String query, long claim, long batch, String journal) throws IOException {
    return Reply.of(python.commit(secret, query, claim, batch, journal));
  }

  Reply fetch(String query, long claim, String path, String object) throws IOException {
    return Reply.of(python.fetch(secret, query, claim, path, object));
  }

  Reply sign(String query, long claim, long size, String sha256s, String begun)
      throws IOException {
    return Reply.of(python.sign(secret, query, claim, size, sha256s, begun));
  }

  Reply finish(String query, long claim, String key, String etags) throws IOException {
    return Reply.of(python.finish(secret, query, claim, key, etags));
  }

  Reply end(String query, long claim) throws IOException {
    return Reply.of(python.end(secret, query, claim));
  }
}
