package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Indices of one bit, for sets of two rows. The bits of a set are contiguous:
 *
 * <pre>
 * byte u, u &lt; 16   bit i is the index of token 8 u + i
 * bytes = 16 * sets
 * </pre>
 *
 * Before packing, word w of a token holds the indices of sets 16 w to 16 w + 15, the first in its
 * lowest bit.
 */
public record BitCodes(int sets) implements SetCodes {
  /** Bytes of a set. */
  public static final int SET_BYTES = PageSize.TOKENS / Byte.SIZE;

  @Override
  public int indexBits() {
    return 1;
  }

  @Override
  public int words() {
    return Math.ceilDiv(sets, Short.SIZE);
  }

  @Override
  public int bytes() {
    return sets * SET_BYTES;
  }

  @Override
  public void pack(short[] words, int at, MemorySegment target, long offset) {
    int perToken = words();
    for (int set = 0; set < sets; set++) {
      for (int u = 0; u < SET_BYTES; u++) {
        int bits = 0;
        for (int i = 0; i < Byte.SIZE; i++) {
          int word = words[at + (Byte.SIZE * u + i) * perToken + set / Short.SIZE];
          bits |= (word >> set % Short.SIZE & 1) << i;
        }
        target.set(ValueLayout.JAVA_BYTE, offset + (long) set * SET_BYTES + u, (byte) bits);
      }
    }
  }

  @Override
  public void unpack(MemorySegment source, long offset, byte[] indices) {
    for (int set = 0; set < sets; set++) {
      for (int token = 0; token < PageSize.TOKENS; token++) {
        long at = offset + (long) set * SET_BYTES + token / Byte.SIZE;
        int bits = source.get(ValueLayout.JAVA_BYTE, at);
        indices[set * PageSize.TOKENS + token] = (byte) (bits >> token % Byte.SIZE & 1);
      }
    }
  }
}
