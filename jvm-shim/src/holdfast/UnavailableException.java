package holdfast;

/** What may be gone at the next try; where permission has expired, with a fresh ticket. */
final class UnavailableException extends HoldfastException {
  private static final long serialVersionUID = 1;

  final boolean expired;

  UnavailableException(String text) {
    this(text, false);
  }

  private UnavailableException(String text, boolean expired) {
    super(text);
    this.expired = expired;
  }

  static UnavailableException expired(String text) {
    return new UnavailableException(text, true);
  }
}
