package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The numbers of a page that the host has quantized, one by one. */
public record HostMeadPage(Page page) {
  /**
   * Quantizes a block like the host, where no attention has been observed.
   *
   * @param keys rotated // (kvHeads, tokens, headDim)
   */
  public static HostMeadPage of(
      SequenceCodec sequence, int layer, int position, float[] keys, float[] values) {
    return new HostMeadPage(sequence.quantize(layer, position, keys.clone(), values.clone()));
  }

  private MeadPage mead() {
    return (MeadPage) page;
  }

  private MeadPageLayout layout() {
    return mead().codes().layout();
  }

  /** Returns the token of each row, tier after tier. */
  public int[] order(int kvHead) {
    MemorySegment data = mead().data();
    long at = layout().tierMapAt(kvHead);
    int[] order = new int[Page.TOKENS];
    int[] next = new int[SaliencyTier.COUNT];
    int uppers = 0;
    for (int token = 0; token < Page.TOKENS; token++) {
      boolean isUpper = bit(data, at, token);
      boolean isHigh = isUpper && bit(data, at + 16, uppers);
      uppers += isUpper ? 1 : 0;
      SaliencyTier tier = SaliencyTier.of(isHigh ? 2 : isUpper ? 1 : 0);
      order[tier.firstRow() + next[tier.ordinal()]++] = token;
    }
    return order;
  }

  private static boolean bit(MemorySegment data, long at, int index) {
    return (data.get(ValueLayout.JAVA_BYTE, at + index / 8) >> index % 8 & 1) != 0;
  }

  /** Returns the scale of a row. */
  public int scale(int kvHead, boolean ofKeys, int row) {
    return codes(kvHead, ofKeys, tier(row)).rowBytes() == 0
        ? 0
        : rowByte(kvHead, ofKeys, row, 0) & 7;
  }

  /** Returns a code; 0 for a channel without bits. */
  public int code(int kvHead, boolean ofKeys, int row, int channel) {
    RowCodeLayout codes = codes(kvHead, ofKeys, tier(row));
    int code = 0;
    for (int i = 0; i < codes.bits(channel); i++) {
      int at = codes.offset(channel) + i;
      code |= (rowByte(kvHead, ofKeys, row, at / 8) >> at % 8 & 1) << i;
    }
    return code;
  }

  /** Returns four bits of the mean error of a component. */
  public int mean(int kvHead, int component) {
    int both = mead().data().get(ValueLayout.JAVA_BYTE, layout().meansAt(kvHead) + component / 2);
    return both >> 4 * (component % 2) & 15;
  }

  /** Returns the table row of a token, where it is stored. */
  public int centroid(int kvHead, boolean ofKeys, int token) {
    long at = layout().tableRowsAt(kvHead, side(ofKeys)) + token;
    return Byte.toUnsignedInt(mead().data().get(ValueLayout.JAVA_BYTE, at));
  }

  private int rowByte(int kvHead, boolean ofKeys, int row, int index) {
    SaliencyTier tier = tier(row);
    int own = row - tier.firstRow();
    int rowBytes = codes(kvHead, ofKeys, tier).rowBytes();
    long at =
        layout().rowsAt(kvHead, side(ofKeys), tier)
            + ValueColumns.rowAt(side(ofKeys), own, rowBytes)
            + (long) ValueColumns.byteStride(side(ofKeys)) * index;
    return Byte.toUnsignedInt(mead().data().get(ValueLayout.JAVA_BYTE, at));
  }

  private RowCodeLayout codes(int kvHead, boolean ofKeys, SaliencyTier tier) {
    return mead().codes().heads().get(kvHead).of(side(ofKeys), tier);
  }

  private static SaliencyTier tier(int row) {
    int tier = 0;
    while (tier + 1 < SaliencyTier.COUNT && row >= SaliencyTier.of(tier + 1).firstRow()) {
      tier++;
    }
    return SaliencyTier.of(tier);
  }

  private static KvSide side(boolean ofKeys) {
    return ofKeys ? KvSide.KEYS : KvSide.VALUES;
  }
}
