package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Which class each token of a page is in, for one head.
 *
 * <pre>
 * u64, u64  bit t of 128: token t is in SOME or FEW
 * u64       bit i of 64: the i-th of those is in FEW
 * </pre>
 */
final class SaliencyTierMap {
  static final int BYTES = 3 * Long.BYTES;

  private static final int TOKENS = Page.TOKENS;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private SaliencyTierMap() {}

  /**
   * @param order tokens by rows: those of each class in their order, class after class
   */
  static void write(byte[] order, MemorySegment out, long at) {
    long[] upper = new long[TOKENS / Long.SIZE];
    for (int row = SaliencyTier.MEDIUM.firstRow(); row < TOKENS; row++) {
      upper[order[row] / Long.SIZE] |= 1L << order[row];
    }
    long few = 0;
    for (int row = SaliencyTier.HIGH.firstRow(); row < TOKENS; row++) {
      few |= 1L << upperRank(order[row], upper);
    }
    out.set(WORD, at, upper[0]);
    out.set(WORD, at + Long.BYTES, upper[1]);
    out.set(WORD, at + 2 * Long.BYTES, few);
  }

  /** How many of the tokens in the two smaller classes come before one. */
  private static int upperRank(int token, long[] upper) {
    long before = upper[token / Long.SIZE] & (1L << token) - 1;
    return Long.bitCount(before) + (token < Long.SIZE ? 0 : Long.bitCount(upper[0]));
  }

  /** Whether the classes have as many tokens as they should. */
  static boolean isValid(MemorySegment in, long at) {
    int upper = Long.bitCount(in.get(WORD, at)) + Long.bitCount(in.get(WORD, at + Long.BYTES));
    int few = Long.bitCount(in.get(WORD, at + 2 * Long.BYTES));
    return upper == SaliencyTier.MEDIUM.tokens() + SaliencyTier.HIGH.tokens()
        && few == SaliencyTier.HIGH.tokens();
  }

  /**
   * @param order (tokens of a page), set to tokens by rows
   */
  static void read(MemorySegment in, long at, byte[] order) {
    long few = in.get(WORD, at + 2 * Long.BYTES);
    int mostRow = SaliencyTier.LOW.firstRow();
    int someRow = SaliencyTier.MEDIUM.firstRow();
    int fewRow = SaliencyTier.HIGH.firstRow();
    for (int first = 0; first < TOKENS; first += Long.SIZE) {
      long upper = in.get(WORD, at + first / Byte.SIZE);
      for (long left = ~upper; left != 0; left &= left - 1) {
        order[mostRow++] = (byte) (first + Long.numberOfTrailingZeros(left));
      }
      for (long left = upper; left != 0; left &= left - 1, few >>>= 1) {
        int isFew = (int) few & 1;
        order[isFew == 1 ? fewRow : someRow] = (byte) (first + Long.numberOfTrailingZeros(left));
        fewRow += isFew;
        someRow += 1 - isFew;
      }
    }
  }
}
