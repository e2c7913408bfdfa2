package holdfast;

/** What may be gone at the next try, with a fresh ticket. */
final class UnavailableException extends HoldfastException {
  private static final long serialVersionUID = 1;

  UnavailableException(String text) {
    super(text);
  }
}
