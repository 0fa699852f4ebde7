package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Two indices of 4 to 6 bits for each token and stage. The codes of a stage are contiguous, and one
 * shift extracts the indices of a whole vector of tokens. With codes of {@code first | second <<
 * bits}:
 *
 * <pre>
 * byte t,       t &lt; 128   lower 8 bits of the code of token t
 * byte 128 + u            upper bits, {@code 2 bits - 8} of them, of the codes of 64 tokens or fewer:
 *   6 bits, u &lt; 64         token u | token u + 64 &lt;&lt; 4
 *   5 bits, u &lt; 32         token u | token u + 32 &lt;&lt; 2 | token u + 64 &lt;&lt; 4 | token u + 96 &lt;&lt; 6
 *   4 bits                 none
 * bytes = 32 * bits * stages
 * </pre>
 *
 * Before packing, a word holds the first index in its lower six bits and the second one above it,
 * whatever the bits of an index.
 */
public record StageCodes(int stages, int indexBits) implements SetCodes {
  /** Maximum bits of an index. */
  public static final int INDEX_BITS = 6;

  private static final int MIN_INDEX_BITS = 4;

  /** Bytes of a stage with indices of {@link #INDEX_BITS}. */
  public static final int STAGE_BYTES = PageSize.TOKENS * 2 * INDEX_BITS / Byte.SIZE;

  private static final int HALF = PageSize.TOKENS / 2;
  private static final int MASK = (1 << INDEX_BITS) - 1;

  public StageCodes {
    if (indexBits < MIN_INDEX_BITS || indexBits > INDEX_BITS) {
      throw new IllegalArgumentException(
          "indices of %d bits; expected %d to %d".formatted(indexBits, MIN_INDEX_BITS, INDEX_BITS));
    }
  }

  /** Creates codes with indices of {@link #INDEX_BITS}. */
  public StageCodes(int stages) {
    this(stages, INDEX_BITS);
  }

  @Override
  public int sets() {
    return 2 * stages;
  }

  @Override
  public int words() {
    return stages;
  }

  @Override
  public int bytes() {
    return stages * stageBytes();
  }

  private int stageBytes() {
    return PageSize.TOKENS * 2 * indexBits / Byte.SIZE;
  }

  /** Returns the bits of a code beyond the lower eight. */
  private int upperBits() {
    return 2 * indexBits - Byte.SIZE;
  }

  @Override
  public void pack(short[] codes, int at, MemorySegment target, long offset) {
    int upperBytes = PageSize.TOKENS * upperBits() / Byte.SIZE;
    for (int stage = 0; stage < stages; stage++) {
      long stageAt = offset + (long) stage * stageBytes();
      for (int token = 0; token < PageSize.TOKENS; token++) {
        int code = compact(codes[at + token * stages + stage]);
        target.set(ValueLayout.JAVA_BYTE, stageAt + token, (byte) code);
      }
      for (int u = 0; u < upperBytes; u++) {
        int upper = 0;
        for (int shift = 0; shift < Byte.SIZE; shift += upperBits()) {
          int token = u + shift / upperBits() * upperBytes;
          upper |= compact(codes[at + token * stages + stage]) >> Byte.SIZE << shift;
        }
        target.set(ValueLayout.JAVA_BYTE, stageAt + PageSize.TOKENS + u, (byte) upper);
      }
    }
  }

  /** Moves the second index of a word next to the first. */
  private int compact(int word) {
    int mask = (1 << indexBits) - 1;
    return word & mask | (word >> INDEX_BITS & mask) << indexBits;
  }

  @Override
  public void unpack(MemorySegment source, long offset, byte[] indices) {
    if (indexBits == INDEX_BITS) {
      unpack(source, offset, stages, indices);
      return;
    }
    int upperBytes = PageSize.TOKENS * upperBits() / Byte.SIZE;
    int mask = (1 << indexBits) - 1;
    for (int stage = 0; stage < stages; stage++) {
      long stageAt = offset + (long) stage * stageBytes();
      int first = 2 * stage * PageSize.TOKENS;
      for (int token = 0; token < PageSize.TOKENS; token++) {
        int code = source.get(ValueLayout.JAVA_BYTE, stageAt + token) & 0xFF;
        if (upperBytes > 0) {
          long upperAt = stageAt + PageSize.TOKENS + token % upperBytes;
          int upper = source.get(ValueLayout.JAVA_BYTE, upperAt) & 0xFF;
          code |= upper >> token / upperBytes * upperBits() << Byte.SIZE;
        }
        indices[first + token] = (byte) (code & mask);
        indices[first + PageSize.TOKENS + token] = (byte) (code >> indexBits & mask);
      }
    }
  }

  /**
   * Unpacks the codes of {@code stages} stages with indices of {@link #INDEX_BITS}. Static, so that
   * reading a page allocates nothing.
   *
   * @param indices (stages, first and second, tokens), set
   */
  public static void unpack(MemorySegment source, long offset, int stages, byte[] indices) {
    for (int stage = 0; stage < stages; stage++) {
      long stageAt = offset + (long) stage * STAGE_BYTES;
      int first = 2 * stage * PageSize.TOKENS;
      for (int token = 0; token < PageSize.TOKENS; token++) {
        int low = source.get(ValueLayout.JAVA_BYTE, stageAt + token) & 0xFF;
        int both = source.get(ValueLayout.JAVA_BYTE, stageAt + PageSize.TOKENS + token % HALF);
        int high = both >> 4 * (token / HALF) & 15;
        indices[first + token] = (byte) (low & MASK);
        indices[first + PageSize.TOKENS + token] = (byte) (low >> INDEX_BITS | high << 2);
      }
    }
  }
}
