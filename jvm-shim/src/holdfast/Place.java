package holdfast;

import java.io.IOException;

/** Bytes in a segment of the spool. */
final class Place {
  final Segment segment;
  final long offset;

  Place(Segment segment, long offset) {
    this.segment = segment;
    this.offset = offset;
  }

  /** The bytes; null if the segment was dropped, because the store has them by now. */
  byte[] read(long size) throws IOException {
    return segment.read(offset, size);
  }
}
