package dev.kvasir.codec.mead;

import dev.kvasir.kernel.NibbleRows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Tables of a KV head in the layout of quantizer and kernels: keys in the lanes of {@link
 * MeadSizes}, values as components.
 *
 * @param keyBase predictions subtracted from keys
 * @param valueBase predictions subtracted from components
 * @param keyWeights (keyWidth)
 * @param valueTo (valueWidth, valueDim)
 * @param valueFrom (valueDim, valueWidth)
 * @param attentionTiers statistics of tiers by {@link SaliencyMetric#ATTENTION}
 * @param energyTiers statistics of tiers by {@link SaliencyMetric#ENERGY}
 * @param importance (keys and values, rank buckets)
 * @param meanUnits (valueWidth)
 */
record HeadTables(
    NibbleRows keyBase,
    NibbleRows valueBase,
    float[] keyWeights,
    float[] valueTo,
    float[] valueFrom,
    TierStatistics attentionTiers,
    TierStatistics energyTiers,
    float[] importance,
    float[] meanUnits) {
  /** Size of a CPU cache line in bytes. */
  private static final int ROW_ALIGNMENT = 64;

  /**
   * @param memory memory for the table rows, which attention reads in place
   */
  static HeadTables of(MeadSizes sizes, HeadProfile head, SegmentAllocator memory) {
    int words = HeadProfile.words(sizes.keyDim()) + HeadProfile.words(sizes.valueDim());
    int rows = head.rows().length / words;
    MemorySegment table = memory.allocate((long) rows * rowBytes(sizes), ROW_ALIGNMENT);
    return new HeadTables(
        base(sizes, head, KvSide.KEYS, table),
        base(sizes, head, KvSide.VALUES, table),
        sizes.inLanes(KvSide.KEYS, head.keyWeights(), 0),
        padded(head.valueTo(), sizes.valueDim(), sizes.valueDim(), sizes.valueWidth(), false),
        padded(head.valueFrom(), sizes.valueDim(), sizes.valueDim(), sizes.valueWidth(), true),
        head.attentionTiers(),
        head.energyTiers(),
        head.importance(),
        sizes.inLanes(KvSide.VALUES, head.meanUnits(), 0));
  }

  private static int rowBytes(MeadSizes sizes) {
    return (sizes.keyWidth() + sizes.valueWidth()) / 2;
  }

  /**
   * Lays out nibble rows for the kernels: the second half of the lanes goes into the upper bits. A
   * token's value row follows its key row, so that one cache line holds both.
   */
  private static NibbleRows base(
      MeadSizes sizes, HeadProfile head, KvSide side, MemorySegment table) {
    int width = sizes.width(side);
    int words = HeadProfile.words(sizes.keyDim()) + HeadProfile.words(sizes.valueDim());
    int firstWord = side == KvSide.KEYS ? 0 : HeadProfile.words(sizes.keyDim());
    int rows = head.rows().length / words;
    int stride = rowBytes(sizes);
    MemorySegment data = table.asSlice(side == KvSide.KEYS ? 0 : sizes.keyWidth() / 2);
    byte[] row = new byte[width / 2];
    for (int r = 0; r < rows; r++) {
      Arrays.fill(row, (byte) 0);
      for (int i = 0; i < sizes.dim(side); i++) {
        int nibble = HeadProfile.nibble(head.rows(), r * words + firstWord, i);
        int lane = sizes.lane(side, i);
        boolean isUpper = lane >= width / 2;
        row[isUpper ? lane - width / 2 : lane] |= (byte) (isUpper ? nibble << 4 : nibble);
      }
      MemorySegment.copy(row, 0, data, ValueLayout.JAVA_BYTE, (long) r * stride, row.length);
    }
    int at = side == KvSide.KEYS ? 0 : sizes.keyDim();
    return new NibbleRows(
        data,
        stride,
        width,
        sizes.inLanes(side, head.lows(), at),
        sizes.inLanes(side, head.steps(), at));
  }

  /** Pads a square matrix with rows or columns of zeros. */
  private static float[] padded(
      float[] from, int rows, int columns, int width, boolean padColumns) {
    float[] to = new float[padColumns ? rows * width : width * columns];
    int stride = padColumns ? width : columns;
    for (int r = 0; r < rows; r++) {
      System.arraycopy(from, r * columns, to, r * stride, columns);
    }
    return to;
  }

  TierStatistics tiers(SaliencyMetric metric) {
    return switch (metric) {
      case ATTENTION -> attentionTiers;
      case ENERGY -> energyTiers;
    };
  }

  NibbleRows base(KvSide side) {
    return side == KvSide.KEYS ? keyBase : valueBase;
  }

  long bytes() {
    long floats =
        keyWeights.length
            + valueTo.length
            + valueFrom.length
            + attentionTiers.length()
            + energyTiers.length()
            + importance.length
            + meanUnits.length;
    return keyBase.bytes() + valueBase.bytes() + Float.BYTES * floats;
  }
}
