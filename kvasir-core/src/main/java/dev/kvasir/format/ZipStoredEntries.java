package dev.kvasir.format;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Finds uncompressed ("stored") entries of a mapped zip file without copying them. Java's own
 * reader copies them.
 *
 * <pre>
 * local header: 0 signature, 8 method, 26 name length, 28 extra length; 30 name, extra, data
 * central header: 0 signature, 10 method, 20 compressed size, 28 name length, 30 extra length,
 *                 32 comment length, 42 offset of the local header; 46 name, extra, comment
 * end: 0 signature, 10 entries, 12 size of all central headers, 16 offset of the first;
 *      20 comment length
 * </pre>
 *
 * <p>Unusual files, such as those above 4 GiB, are not supported: their entries are not found.
 */
record ZipStoredEntries(MemorySegment zip) {
  private static final int LOCAL = 0x04034b50;
  private static final int CENTRAL = 0x02014b50;
  private static final int END = 0x06054b50;
  private static final int LOCAL_BYTES = 30;
  private static final int CENTRAL_BYTES = 46;
  private static final int END_BYTES = 22;
  private static final int MAX_COMMENT_BYTES = 0xFFFF;

  Optional<MemorySegment> find(byte[] name) {
    long end = end();
    if (end < 0) {
      return Optional.empty();
    }
    long at = unsigned(end + 16);
    for (int entries = unsignedShort(end + 10); entries > 0; entries--) {
      if (at > end - CENTRAL_BYTES || signature(at) != CENTRAL) {
        return Optional.empty();
      }
      int length = unsignedShort(at + 28);
      if (length == name.length && hasName(at + CENTRAL_BYTES, name)) {
        return unsignedShort(at + 10) == 0
            ? data(unsigned(at + 42), unsigned(at + 20))
            : Optional.empty();
      }
      at += CENTRAL_BYTES + length + unsignedShort(at + 30) + unsignedShort(at + 32);
    }
    return Optional.empty();
  }

  /** Returns the offset of the end record, which only a comment may follow; -1 if there is none. */
  private long end() {
    long last = zip.byteSize() - END_BYTES;
    for (long at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at--) {
      if (signature(at) == END && unsignedShort(at + 20) == last - at) {
        return at;
      }
    }
    return -1;
  }

  private boolean hasName(long at, byte[] name) {
    return at + name.length <= zip.byteSize()
        && zip.asSlice(at, name.length).mismatch(MemorySegment.ofArray(name)) < 0;
  }

  private Optional<MemorySegment> data(long header, long bytes) {
    if (header > zip.byteSize() - LOCAL_BYTES || signature(header) != LOCAL) {
      return Optional.empty();
    }
    long at = header + LOCAL_BYTES + unsignedShort(header + 26) + unsignedShort(header + 28);
    return at + bytes <= zip.byteSize() ? Optional.of(zip.asSlice(at, bytes)) : Optional.empty();
  }

  private int signature(long at) {
    return zip.get(BlockReader.INT, at);
  }

  private long unsigned(long at) {
    return Integer.toUnsignedLong(zip.get(BlockReader.INT, at));
  }

  private int unsignedShort(long at) {
    return Short.toUnsignedInt(zip.get(BlockReader.SHORT, at));
  }
}
