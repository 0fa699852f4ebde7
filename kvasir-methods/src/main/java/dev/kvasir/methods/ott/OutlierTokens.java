package dev.kvasir.methods.ott;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The unquantized outlier tokens of a page.
 *
 * @param bytes bytes in an {@link OutlierTokenLayout}
 */
record OutlierTokens(OutlierTokenLayout layout, MemorySegment bytes) {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Extracts the outliers. Another key of the group replaces an outlier's key, so that it does not
   * stretch channel ranges. Zeros replace its value, which add nothing to a sum.
   *
   * @param keys (kvHeads, tokens, keyDim), overwritten
   * @param values (kvHeads, tokens, valueDim), overwritten
   */
  static OutlierTokens of(
      SharedArena memory, OutlierTokenLayout layout, float[] keys, float[] values) {
    OutlierTokens outliers = new OutlierTokens(layout, memory.allocate(layout.bytes()));
    for (int head = 0; head < layout.kvHeads(); head++) {
      outliers.extract(head, keys, values);
    }
    return outliers;
  }

  private void extract(int head, float[] keys, float[] values) {
    int keyDim = layout.keyDim();
    int valueDim = layout.valueDim();
    int keysAt = head * Page.TOKENS * keyDim;
    int valuesAt = head * Page.TOKENS * valueDim;
    int[] indices = SmallestKeys.of(keys, keysAt, keyDim, layout.outliers());
    for (int i = 0; i < indices.length; i++) {
      int key = keysAt + indices[i] * keyDim;
      int value = valuesAt + indices[i] * valueDim;
      bytes.set(ValueLayout.JAVA_BYTE, layout.indicesOffset(head) + i, (byte) indices[i]);
      put(keys, key, keyDim, layout.keysOffset(head) + 2L * i * keyDim);
      put(values, value, valueDim, layout.valuesOffset(head) + 2L * i * valueDim);
      System.arraycopy(keys, keysAt + neighbour(indices, i) * keyDim, keys, key, keyDim);
      Arrays.fill(values, value, value + valueDim, 0);
    }
  }

  private void put(float[] x, int at, int count, long offset) {
    for (int i = 0; i < count; i++) {
      bytes.set(HALF, offset + 2L * i, Float.floatToFloat16(x[at + i]));
    }
  }

  /** Returns the first token of the same group that is not an outlier. */
  private int neighbour(int[] indices, int which) {
    int token = indices[which] / layout.group() * layout.group();
    while (Arrays.binarySearch(indices, token) >= 0) {
      token++;
    }
    return token;
  }

  /** Fails unless indices are in range and rising. */
  void requireValidIndices() {
    for (int head = 0; head < layout.kvHeads(); head++) {
      for (int i = 0; i < layout.outliers(); i++) {
        int before = i == 0 ? -1 : index(head, i - 1);
        if (index(head, i) <= before || index(head, i) >= Page.TOKENS) {
          throw SnapshotHeader.PAGE.invalid(
              "keeps token %d after %d in head %d; expected rising places below %d"
                  .formatted(index(head, i), before, head, Page.TOKENS));
        }
      }
    }
  }

  /** Returns the token index on the page of a head's i-th outlier. */
  int index(int kvHead, int i) {
    return Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, layout.indicesOffset(kvHead) + i));
  }

  /**
   * Writes the outlier keys among the first tokens to their rows.
   *
   * @param out (tokens, keyDim)
   */
  void restoreKeys(int kvHead, int tokens, float[] out) {
    restoreRows(kvHead, tokens, layout.keysOffset(kvHead), layout.keyDim(), out);
  }

  /** Writes the outlier values among the first tokens to their rows. */
  void restoreValues(int kvHead, int tokens, float[] out) {
    restoreRows(kvHead, tokens, layout.valuesOffset(kvHead), layout.valueDim(), out);
  }

  private void restoreRows(int kvHead, int tokens, long offset, int width, float[] out) {
    for (int i = 0; i < layout.outliers() && index(kvHead, i) < tokens; i++) {
      int row = index(kvHead, i) * width;
      for (int channel = 0; channel < width; channel++) {
        long at = offset + 2L * (i * width + channel);
        out[row + channel] = Float.float16ToFloat(bytes.get(HALF, at));
      }
    }
  }

  /** Selects the tokens of a head with the smallest keys, by the sum of magnitudes. */
  private static final class SmallestKeys {
    /**
     * @param keys (tokens, keyDim) from {@code at} on
     * @return {@code count} tokens in rising order; the earlier ones of equal keys
     */
    static int[] of(float[] keys, int at, int keyDim, int count) {
      double[] sizes = new double[Page.TOKENS];
      for (int i = 0; i < Page.TOKENS * keyDim; i++) {
        sizes[i / keyDim] += Math.abs(keys[at + i]);
      }
      return IntStream.range(0, Page.TOKENS)
          .boxed()
          .sorted(Comparator.comparingDouble(token -> sizes[token]))
          .limit(count)
          .mapToInt(token -> token)
          .sorted()
          .toArray();
    }
  }
}
