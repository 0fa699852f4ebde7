package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.RowCodeKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The tier of each token of a page, for one head, as {@link RowCodeKernels#orderRows} reads it.
 *
 * <pre>
 * u64, u64  bit t of 128: token t is in MEDIUM or HIGH
 * u64       bit i of 64: the i-th of those is in HIGH
 * </pre>
 */
final class SaliencyTierMap {
  static final int BYTES = 3 * Long.BYTES;

  private static final int TOKENS = Page.TOKENS;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private SaliencyTierMap() {}

  /**
   * @param order token of each row: tier after tier, each in token order
   */
  static void write(byte[] order, MemorySegment out, long at) {
    long[] upper = new long[TOKENS / Long.SIZE];
    for (int row = SaliencyTier.MEDIUM.firstRow(); row < TOKENS; row++) {
      upper[order[row] / Long.SIZE] |= 1L << order[row];
    }
    long high = 0;
    for (int row = SaliencyTier.HIGH.firstRow(); row < TOKENS; row++) {
      high |= 1L << upperRank(order[row], upper);
    }
    out.set(WORD, at, upper[0]);
    out.set(WORD, at + Long.BYTES, upper[1]);
    out.set(WORD, at + 2 * Long.BYTES, high);
  }

  /** Returns how many tokens of the two upper tiers precede a token. */
  private static int upperRank(int token, long[] upper) {
    long before = upper[token / Long.SIZE] & (1L << token) - 1;
    return Long.bitCount(before) + (token < Long.SIZE ? 0 : Long.bitCount(upper[0]));
  }

  /** Returns whether the tiers have the right number of tokens. */
  static boolean isValid(MemorySegment in, long at) {
    int upper = Long.bitCount(in.get(WORD, at)) + Long.bitCount(in.get(WORD, at + Long.BYTES));
    int high = Long.bitCount(in.get(WORD, at + 2 * Long.BYTES));
    return upper == SaliencyTier.MEDIUM.tokens() + SaliencyTier.HIGH.tokens()
        && high == SaliencyTier.HIGH.tokens();
  }
}
