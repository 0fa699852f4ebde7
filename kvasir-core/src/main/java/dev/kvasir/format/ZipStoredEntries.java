package dev.kvasir.format;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Entries of a zip file that are not compressed, where they lie; Java's own reader copies them.
 *
 * <pre>
 * local header: 0 signature, 8 method, 26 bytes of the name, 28 of what follows it; 30 name, more, data
 * central header: 0 signature, 10 method, 20 bytes in the file, 28 of the name, 30 and 32 of what follows
 *                 it, 42 place of the local header; 46 name, more
 * end: 0 signature, 10 entries, 12 bytes of all central headers, 16 place of the first; 20 a comment's bytes
 * </pre>
 *
 * <p>Whatever is unusual, a file of more than 4 GiB among it, is not found here.
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

  /** Where the last record begins, behind which only a comment may lie; -1 where there is none. */
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
