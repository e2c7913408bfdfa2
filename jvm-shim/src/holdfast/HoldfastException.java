package holdfast;

import java.io.IOException;

/**
 * What Python decided against: its text starts with the error's name.
 *
 * <p>Never a FileNotFoundException, which Spark takes for "absent", and never a
 * FileAlreadyExistsException, which it swallows or rewords.
 */
class HoldfastException extends IOException {
  private static final long serialVersionUID = 1;

  HoldfastException(String text) {
    super(text);
  }

  HoldfastException(String text, Throwable cause) {
    super(text, cause);
  }
}
