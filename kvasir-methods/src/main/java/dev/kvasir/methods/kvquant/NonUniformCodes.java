package dev.kvasir.methods.kvquant;

import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.HalfRounding;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Vectors quantized to non-uniform levels, {@code number = zero + scale * level(code)}, with
 * outliers stored separately. A vector is a key channel, or the value of a token.
 *
 * <pre>
 * levels    (2^bits) f16, from -1 to 1
 * scales    (vectors) f16
 * zeros     (vectors) f16
 * outliers  (vectors, outliers) f16
 * indices   (vectors, outliers) u8, u16 where vectors have more than 256 numbers
 * codes     WordLayout(length up to a multiple of 16, vectors up to a multiple of 4, bits)
 * </pre>
 *
 * @param length numbers of a vector
 * @param outliers outliers of a vector
 * @param layout layout of the codes
 */
record NonUniformCodes(
    int vectors, int length, int bits, int outliers, LevelPlacement placement, WordLayout layout) {
  static final int MAX_LEVELS = 16;

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int BYTE_INDICES = 256;
  private static final float LARGEST_HALF = 65504;

  NonUniformCodes(int vectors, int length, int bits, int outliers, LevelPlacement fit) {
    this(vectors, length, bits, outliers, fit, WordLayout.padded(vectors, length, bits));
  }

  private int levelCount() {
    return 1 << bits;
  }

  private int indexBytes() {
    return length > BYTE_INDICES ? Short.BYTES : 1;
  }

  private long scalesOffset() {
    return 2L * levelCount();
  }

  private long zerosOffset() {
    return scalesOffset() + 2L * vectors;
  }

  private long outliersOffset() {
    return zerosOffset() + 2L * vectors;
  }

  private long indicesOffset() {
    return outliersOffset() + 2L * vectors * outliers;
  }

  private long codesOffset() {
    return indicesOffset() + (long) indexBytes() * vectors * outliers;
  }

  int codeBytes() {
    return layout.bytes();
  }

  long bytes() {
    return codesOffset() + codeBytes();
  }

  /**
   * @param x (vectors, length)
   */
  void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    LevelFit levelFit = new LevelFit();
    float[] zeros = new float[vectors];
    float[] scales = new float[vectors];
    for (int vector = 0; vector < vectors; vector++) {
      int[] outlierIndices = Outliers.of(x, vector * length, length, outliers);
      for (int i = 0; i < outliers; i++) {
        int at = vector * outliers + i;
        float number =
            Math.clamp(x[vector * length + outlierIndices[i]], -LARGEST_HALF, LARGEST_HALF);
        target.set(HALF, offset + outliersOffset() + 2L * at, Float.floatToFloat16(number));
        putOutlierIndex(target, offset, at, outlierIndices[i]);
      }
      scale(x, vector, outlierIndices, zeros, scales);
      putHalf(target, offset + zerosOffset() + 2L * vector, zeros[vector]);
      putHalf(target, offset + scalesOffset() + 2L * vector, scales[vector]);
      addToFit(x, vector, zeros[vector], scales[vector], outlierIndices, levelFit);
    }
    float[] levels =
        placement == LevelPlacement.FITTED
            ? levelFit.levels(levelCount())
            : LevelFit.evenlySpaced(levelCount());
    for (int i = 0; i < levels.length; i++) {
      putHalf(target, offset + 2L * i, levels[i]);
    }
    packCodes(scratch, x, zeros, scales, levels, target, offset);
  }

  private static void putHalf(MemorySegment target, long at, float x) {
    target.set(HALF, at, Float.floatToFloat16(x));
  }

  /** Sets the midpoint of a vector's inliers and their largest distance from it, as halves. */
  private void scale(float[] x, int vector, int[] outlierIndices, float[] zeros, float[] scales) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < length; i++) {
      if (Arrays.binarySearch(outlierIndices, i) < 0) {
        least = Math.min(least, x[vector * length + i]);
        most = Math.max(most, x[vector * length + i]);
      }
    }
    float middle = Math.clamp((least + most) / 2, -LARGEST_HALF, LARGEST_HALF);
    zeros[vector] = Float.float16ToFloat(Float.floatToFloat16(middle));
    float reach = Math.max(most - zeros[vector], zeros[vector] - least);
    scales[vector] = Float.float16ToFloat(HalfRounding.ceil(Math.clamp(reach, 0, LARGEST_HALF)));
  }

  private void addToFit(
      float[] x, int vector, float zero, float scale, int[] outlierIndices, LevelFit levelFit) {
    for (int i = 0; scale > 0 && i < length; i++) {
      if (Arrays.binarySearch(outlierIndices, i) < 0) {
        levelFit.add((x[vector * length + i] - zero) / scale, (double) scale * scale);
      }
    }
  }

  private void packCodes(
      CodeScratch scratch,
      float[] x,
      float[] zeros,
      float[] scales,
      float[] levels,
      MemorySegment target,
      long offset) {
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    for (int vector = 0; vector < vectors; vector++) {
      for (int i = 0; scales[vector] > 0 && i < length; i++) {
        float number = (x[vector * length + i] - zeros[vector]) / scales[vector];
        codes[vector * layout.columns() + i] = (byte) LevelFit.nearest(levels, number);
      }
    }
    layout.pack(scratch, codes, target, offset + codesOffset());
  }

  private void putOutlierIndex(MemorySegment target, long offset, int at, int index) {
    long where = offset + indicesOffset() + (long) indexBytes() * at;
    if (indexBytes() == 1) {
      target.set(ValueLayout.JAVA_BYTE, where, (byte) index);
    } else {
      target.set(HALF, where, (short) index);
    }
  }

  private int outlierIndex(MemorySegment source, long offset, int at) {
    long where = offset + indicesOffset() + (long) indexBytes() * at;
    return indexBytes() == 1
        ? Byte.toUnsignedInt(source.get(ValueLayout.JAVA_BYTE, where))
        : Short.toUnsignedInt(source.get(HALF, where));
  }

  /** Returns whether all outlier indices are in range. */
  boolean hasValidOutlierIndices(MemorySegment source, long offset) {
    for (int at = 0; at < vectors * outliers; at++) {
      if (outlierIndex(source, offset, at) >= length) {
        return false;
      }
    }
    return true;
  }

  /**
   * Dequantizes what {@link #quantize} wrote.
   *
   * @param levels scratch array of {@link #MAX_LEVELS}
   * @param x (vectors, length), set
   */
  void expand(CodeScratch scratch, float[] levels, MemorySegment source, long offset, float[] x) {
    for (int i = 0; i < levelCount(); i++) {
      levels[i] = half(source, offset + 2L * i);
    }
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    layout.unpack(scratch, source, offset + codesOffset(), codes);
    for (int vector = 0; vector < vectors; vector++) {
      float zero = half(source, offset + zerosOffset() + 2L * vector);
      float scale = half(source, offset + scalesOffset() + 2L * vector);
      for (int i = 0; i < length; i++) {
        float level = levels[codes[vector * layout.columns() + i]];
        x[vector * length + i] = Math.fma(scale, level, zero);
      }
      for (int i = 0; i < outliers; i++) {
        int at = vector * outliers + i;
        float outlierIndices = half(source, offset + outliersOffset() + 2L * at);
        x[vector * length + outlierIndex(source, offset, at)] = outlierIndices;
      }
    }
  }

  private static float half(MemorySegment source, long at) {
    return Float.float16ToFloat(source.get(HALF, at));
  }

  @Override
  public String toString() {
    return "%d vectors of %d numbers, %d bits, %d kept apart"
        .formatted(vectors, length, bits, outliers);
  }

  /** Selects the outliers of a vector: those without which its range is smallest. */
  static final class Outliers {
    private Outliers() {}

    /**
     * @param x numbers from {@code at} on
     * @return {@code count} indices in rising order
     */
    static int[] of(float[] x, int at, int length, int count) {
      int[] byNumber =
          IntStream.range(0, length)
              .boxed()
              .sorted(Comparator.comparingDouble(i -> x[at + i]))
              .mapToInt(i -> i)
              .toArray();
      int below = 0;
      float least = Float.POSITIVE_INFINITY;
      for (int candidate = 0; candidate <= count; candidate++) {
        int highest = byNumber[length - 1 - (count - candidate)];
        float range = x[at + highest] - x[at + byNumber[candidate]];
        if (range < least) {
          least = range;
          below = candidate;
        }
      }
      int lower = below;
      return IntStream.range(0, count)
          .map(i -> byNumber[i < lower ? i : length - count + i])
          .sorted()
          .toArray();
    }
  }
}
