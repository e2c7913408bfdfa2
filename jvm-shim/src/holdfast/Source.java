package holdfast;

import java.io.IOException;

/** Where a file is read from: bytes at hand, or a ticket for an object on the store. */
final class Source {
  final byte[] bytes;
  final Ticket ticket;
  private final Opening opening;

  private Source(byte[] bytes, Ticket ticket, Opening opening) {
    this.bytes = bytes;
    this.ticket = ticket;
    this.opening = opening;
  }

  static Source of(byte[] bytes) {
    return new Source(bytes, null, null);
  }

  static Source of(Ticket ticket, Opening opening) {
    return new Source(null, ticket, opening);
  }

  /** The same file with a fresh ticket; one lasts for minutes. */
  Source again() throws IOException {
    Source fresh = opening.open();
    if (fresh.ticket == null) {
      throw new HoldfastException("BridgeError: a large file became a small one: " + ticket.key);
    }
    return fresh;
  }

  /** How it was opened. */
  interface Opening {
    Source open() throws IOException;
  }
}
