package holdfast;

/** Where a file is read from: bytes at hand, or a ticket for an object on the store. */
final class Source {
  final byte[] bytes;
  final Ticket ticket;

  private Source(byte[] bytes, Ticket ticket) {
    this.bytes = bytes;
    this.ticket = ticket;
  }

  static Source of(byte[] bytes) {
    return new Source(bytes, null);
  }

  static Source of(Ticket ticket) {
    return new Source(null, ticket);
  }
}
