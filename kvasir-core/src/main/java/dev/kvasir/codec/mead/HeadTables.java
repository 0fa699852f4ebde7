package dev.kvasir.codec.mead;

import dev.kvasir.kernel.NibbleRows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * What is known of a KV head, as its tokens are packed and read: numbers of keys in the lanes of
 * {@link MeadSizes}, values as components.
 *
 * @param keyBase what is taken off keys
 * @param valueBase what is taken off components
 * @param keyWeights (keyWidth)
 * @param valueTo (valueWidth, valueDim)
 * @param valueFrom (valueDim, valueWidth)
 * @param deviations (classes, keyDim and valueDim) of what tables leave
 * @param classWeights (classes, keys and values)
 * @param importance (keys and values, ranks)
 * @param meanUnits (valueWidth)
 */
record HeadTables(
    NibbleRows keyBase,
    NibbleRows valueBase,
    float[] keyWeights,
    float[] valueTo,
    float[] valueFrom,
    float[] deviations,
    float[] tierWeights,
    float[] importance,
    float[] meanUnits) {
  /** Of a line of the caches that processors have. */
  private static final int ROW_ALIGNMENT = 64;

  /**
   * @param memory of what attention reads where it lies
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
        head.deviations(),
        head.tierWeights(),
        head.importance(),
        sizes.inLanes(KvSide.VALUES, head.meanUnits(), 0));
  }

  private static int rowBytes(MeadSizes sizes) {
    return (sizes.keyWidth() + sizes.valueWidth()) / 2;
  }

  /**
   * Rows of nibbles as kernels want them: the second half of the lanes in the upper bits. A token's
   * row for values follows that for keys: who fetches one has the other in the same line.
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

  /** A square matrix with rows or columns of zeros behind. */
  private static float[] padded(
      float[] from, int rows, int columns, int width, boolean columnsGrow) {
    float[] to = new float[columnsGrow ? rows * width : width * columns];
    int stride = columnsGrow ? width : columns;
    for (int r = 0; r < rows; r++) {
      System.arraycopy(from, r * columns, to, r * stride, columns);
    }
    return to;
  }

  /** Of a channel, in a class of tokens. */
  float deviation(MeadSizes sizes, KvSide side, SaliencyTier tokens, int channel) {
    int ofClass = tokens.ordinal() * (sizes.keyDim() + sizes.valueDim());
    return deviations[ofClass + (side == KvSide.KEYS ? 0 : sizes.keyDim()) + channel];
  }

  NibbleRows base(KvSide side) {
    return side == KvSide.KEYS ? keyBase : valueBase;
  }

  long bytes() {
    long floats =
        keyWeights.length
            + valueTo.length
            + valueFrom.length
            + deviations.length
            + tierWeights.length
            + importance.length
            + meanUnits.length;
    return keyBase.bytes() + valueBase.bytes() + Float.BYTES * floats;
  }
}
