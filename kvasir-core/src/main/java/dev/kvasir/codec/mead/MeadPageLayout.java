package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.RowCodeLayout;
import java.util.List;

/**
 * Byte layout of a layer's page.
 *
 * <pre>
 * for each KV head, for keys and then values, for each tier: a row of codes for each of its tokens
 * for each KV head:
 *   SaliencyTierMap
 *   MeanErrors of components
 *   index of the table row of each token's key, then of each token's value: a byte each, where
 *     tables are centroids
 * and zeros up to what kernels may read behind a row
 * </pre>
 *
 * Rows of values are interleaved, see {@link ValueColumns}.
 */
final class MeadPageLayout {
  private static final int TOKENS = Page.TOKENS;

  private final int kvHeads;
  private final long[] rowsAt; // by head, side, tier
  private final long codeBytes;
  private final int meanBytes;
  private final int headBytes;
  private final long bytes;

  /**
   * @param storesTableRows whether the index of a token's table row is stored
   */
  MeadPageLayout(List<HeadCodeLayout> heads, int valueDim, boolean storesTableRows) {
    this(heads, valueDim, storesTableRows, 0);
  }

  /**
   * @param minCodeBytes fewer bytes of codes are padded
   */
  MeadPageLayout(
      List<HeadCodeLayout> heads, int valueDim, boolean storesTableRows, long minCodeBytes) {
    this.kvHeads = heads.size();
    this.rowsAt = new long[kvHeads * KvSide.COUNT * SaliencyTier.COUNT];
    long at = 0;
    for (int head = 0; head < kvHeads; head++) {
      for (KvSide side : KvSide.values()) {
        for (SaliencyTier tokens : SaliencyTier.values()) {
          rowsAt[index(head, side, tokens)] = at;
          at += (long) tokens.tokens() * heads.get(head).of(side, tokens).rowBytes();
        }
      }
    }
    this.codeBytes = Math.max(at, minCodeBytes);
    this.meanBytes = MeanErrors.bytesFor(valueDim);
    this.headBytes =
        SaliencyTierMap.BYTES + meanBytes + (storesTableRows ? KvSide.COUNT * TOKENS : 0);
    this.bytes = codeBytes + Math.max((long) kvHeads * headBytes, RowCodeLayout.OVERREAD_BYTES);
  }

  private static int index(int head, KvSide side, SaliencyTier tokens) {
    return (head * KvSide.COUNT + side.ordinal()) * SaliencyTier.COUNT + tokens.ordinal();
  }

  int kvHeads() {
    return kvHeads;
  }

  /** Returns the offset of a tier's rows. */
  long rowsAt(int head, KvSide side, SaliencyTier tokens) {
    return rowsAt[index(head, side, tokens)];
  }

  /** Returns the offset of the rows of all tiers. */
  long rowsAt(int head, KvSide side) {
    return rowsAt(head, side, SaliencyTier.of(0));
  }

  long tierMapAt(int head) {
    return codeBytes + (long) head * headBytes;
  }

  long meansAt(int head) {
    return tierMapAt(head) + SaliencyTierMap.BYTES;
  }

  /** Returns the offset of the table-row indices; valid only if they are stored. */
  long tableRowsAt(int head, KvSide side) {
    return meansAt(head) + meanBytes + (long) TOKENS * side.ordinal();
  }

  long codeBytes() {
    return codeBytes;
  }

  long bytes() {
    return bytes;
  }
}
