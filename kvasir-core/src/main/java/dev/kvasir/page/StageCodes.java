package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Codes of 12 bits, two 6-bit indices, for each token and stage. The codes of a stage are
 * contiguous, and one shift extracts the indices of a whole vector of tokens:
 *
 * <pre>
 * byte t,       t &lt; 128   first of token t | lower 2 bits of its second &lt;&lt; 6
 * byte 128 + u, u &lt; 64    upper 4 bits of the second of token u | those of token u + 64 &lt;&lt; 4
 * bytes = 192 * stages
 * </pre>
 */
public record StageCodes(int stages) {
  /** Bits of an index. */
  public static final int INDEX_BITS = 6;

  public static final int STAGE_BYTES = PageSize.TOKENS * 2 * INDEX_BITS / Byte.SIZE;

  private static final int HALF = PageSize.TOKENS / 2;
  private static final int MASK = (1 << INDEX_BITS) - 1;

  public int bytes() {
    return stages * STAGE_BYTES;
  }

  /**
   * @param codes (tokens, stages): the first index in the lower six bits, the second above it
   */
  public void pack(short[] codes, int at, MemorySegment target, long offset) {
    for (int stage = 0; stage < stages; stage++) {
      long stageAt = offset + (long) stage * STAGE_BYTES;
      for (int token = 0; token < PageSize.TOKENS; token++) {
        int code = codes[at + token * stages + stage];
        target.set(ValueLayout.JAVA_BYTE, stageAt + token, (byte) code);
      }
      for (int u = 0; u < HALF; u++) {
        int early = codes[at + u * stages + stage] >> 8 & 15;
        int late = codes[at + (u + HALF) * stages + stage] >> 8 & 15;
        target.set(
            ValueLayout.JAVA_BYTE, stageAt + PageSize.TOKENS + u, (byte) (early | late << 4));
      }
    }
  }

  /**
   * Unpacks the codes of {@code stages} stages. Static, so that reading a page allocates nothing.
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
