package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.MemorySegment;

/**
 * Cosines and sines of a rotation, by pair: of token indices in a block, and of the first positions
 * of pages.
 *
 * <pre>
 * block  f32 (128, headDim / 2, 2)
 * pages  f32 (pages, headDim / 2, 2)
 * order  u16 (2, headDim / 2) channels of pairs
 * </pre>
 */
record RopeAngles(Rotation rotation, int headDim) {
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int ANGLE_BYTES = 2 * Float.BYTES;

  long blockBytes() {
    return (long) BLOCK * headDim / 2 * ANGLE_BYTES;
  }

  long pageBytes(int pages) {
    return (long) pages * headDim / 2 * ANGLE_BYTES;
  }

  long orderBytes() {
    return (long) headDim * Short.BYTES;
  }

  void putBlock(MemorySegment to) {
    RopeTable table = rotation.table(headDim);
    int half = headDim / 2;
    for (int token = 0; token < BLOCK; token++) {
      for (int pair = 0; pair < half; pair++) {
        int at = token * table.pairs() + pair;
        put(to, token * half + pair, table.cosines()[at], table.sines()[at]);
      }
    }
  }

  /** Rotates unit vectors to the first position of each page. */
  void putPages(int firstPosition, int pages, MemorySegment to) {
    int half = headDim / 2;
    int[] channels = rotation.pairOrder(headDim);
    float[] unit = new float[headDim];
    for (int page = 0; page < pages; page++) {
      for (int pair = 0; pair < half; pair++) {
        unit[channels[pair]] = 1;
        unit[channels[half + pair]] = 0;
      }
      rotation.rotate(unit, 0, headDim, 1, firstPosition + page * Fp16Page.TOKENS);
      for (int pair = 0; pair < half; pair++) {
        put(to, page * half + pair, unit[channels[pair]], unit[channels[half + pair]]);
      }
    }
  }

  void putOrder(MemorySegment to) {
    int[] channels = rotation.pairOrder(headDim);
    for (int i = 0; i < headDim; i++) {
      to.setAtIndex(JAVA_SHORT, i, (short) channels[i]);
    }
  }

  private static void put(MemorySegment to, int index, float cosine, float sine) {
    to.setAtIndex(JAVA_FLOAT, 2L * index, cosine);
    to.setAtIndex(JAVA_FLOAT, 2L * index + 1, sine);
  }
}
