package dev.kvasir.codec.ott;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The tokens of a page that are kept as they are.
 *
 * @param bytes as {@link KeptShape} lays them out
 */
record KeptTokens(KeptShape shape, MemorySegment bytes) {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Takes tokens out: a key gives its place to another of its group, which leaves the ranges of
   * channels to the others, and a value to zeros, which add nothing to any sum.
   *
   * @param keys (kvHeads, tokens, keyDim), changed
   * @param values (kvHeads, tokens, valueDim), changed
   */
  static KeptTokens of(SharedArena memory, KeptShape shape, float[] keys, float[] values) {
    KeptTokens kept = new KeptTokens(shape, memory.allocate(shape.bytes()));
    for (int head = 0; head < shape.kvHeads(); head++) {
      kept.takeOut(head, keys, values);
    }
    return kept;
  }

  private void takeOut(int head, float[] keys, float[] values) {
    int keyDim = shape.keyDim();
    int valueDim = shape.valueDim();
    int keysAt = head * Page.TOKENS * keyDim;
    int valuesAt = head * Page.TOKENS * valueDim;
    int[] places = SmallestKeys.of(keys, keysAt, keyDim, shape.outliers());
    for (int i = 0; i < places.length; i++) {
      int key = keysAt + places[i] * keyDim;
      int value = valuesAt + places[i] * valueDim;
      bytes.set(ValueLayout.JAVA_BYTE, shape.placesOffset(head) + i, (byte) places[i]);
      put(keys, key, keyDim, shape.keysOffset(head) + 2L * i * keyDim);
      put(values, value, valueDim, shape.valuesOffset(head) + 2L * i * valueDim);
      System.arraycopy(keys, keysAt + neighbour(places, i) * keyDim, keys, key, keyDim);
      Arrays.fill(values, value, value + valueDim, 0);
    }
  }

  private void put(float[] x, int at, int count, long offset) {
    for (int i = 0; i < count; i++) {
      bytes.set(HALF, offset + 2L * i, Float.floatToFloat16(x[at + i]));
    }
  }

  /** The first token of the same group that is not kept. */
  private int neighbour(int[] places, int which) {
    int token = places[which] / shape.group() * shape.group();
    while (Arrays.binarySearch(places, token) >= 0) {
      token++;
    }
    return token;
  }

  /** Refuses places that are none, or not in order. */
  void requirePlaces() {
    for (int head = 0; head < shape.kvHeads(); head++) {
      for (int i = 0; i < shape.outliers(); i++) {
        int before = i == 0 ? -1 : place(head, i - 1);
        if (place(head, i) <= before || place(head, i) >= Page.TOKENS) {
          throw Envelope.PAGE.refused(
              "keeps token %d after %d in head %d; expected rising places below %d"
                  .formatted(place(head, i), before, head, Page.TOKENS));
        }
      }
    }
  }

  /** The token on the page that the i-th of a head is. */
  int place(int kvHead, int i) {
    return Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, shape.placesOffset(kvHead) + i));
  }

  /**
   * Puts keys of the first tokens to their places.
   *
   * @param out (tokens, keyDim)
   */
  void putKeys(int kvHead, int tokens, float[] out) {
    putRows(kvHead, tokens, shape.keysOffset(kvHead), shape.keyDim(), out);
  }

  /** The same with values. */
  void putValues(int kvHead, int tokens, float[] out) {
    putRows(kvHead, tokens, shape.valuesOffset(kvHead), shape.valueDim(), out);
  }

  private void putRows(int kvHead, int tokens, long offset, int width, float[] out) {
    for (int i = 0; i < shape.outliers() && place(kvHead, i) < tokens; i++) {
      int row = place(kvHead, i) * width;
      for (int channel = 0; channel < width; channel++) {
        long at = offset + 2L * (i * width + channel);
        out[row + channel] = Float.float16ToFloat(bytes.get(HALF, at));
      }
    }
  }
}
