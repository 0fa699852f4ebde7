package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The RoPE of keys whose patterns are stored before rotation, and its tables on a device, with the
 * offsets in rotary.cuh:
 *
 * <pre>
 * 0             u32 positions
 * 128           u16 (2, D / 2) channels of pairs: x of all, then y
 * 128 + 2 D     u16 (D) pair of a channel, and 0x8000 if the channel is y
 * 128 + 4 D     f16 (32, D) cosines and sines of offsets, at {@link #place}
 * 128 + 68 D    f32 (128, D / 2, 2) cosine and sine of offsets in a block
 * 128 + 580 D   f32 (positions, D / 2, 2) cosine and sine of every 32nd position
 * </pre>
 *
 * @param firstPosition position of the first quantized token: the number of sinks
 * @param positions maximum length of a sequence
 */
public record KeyRotation(Rotation rotation, int firstPosition, int positions) {
  /** Tokens between two positions of the long table. */
  private static final int STRIDE = 32;

  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int ORDER_AT = 128;
  private static final short SECOND = (short) 0x8000;
  private static final int COS_SIN_BYTES = 2 * Float.BYTES;

  /** Returns the index of a position in the long table; the position starts a block. */
  int turn(int position) {
    return (position - firstPosition) / STRIDE;
  }

  private int rows() {
    return Math.ceilDiv(positions, STRIDE) + BLOCK / STRIDE;
  }

  /**
   * Returns the index of a pair's first channel in a stored pattern; the second is two further.
   * Sixteen pairs take 64 bytes, of which four lanes read 16 each, for two steps of eight pairs.
   */
  static int place(int pair) {
    return pair / 16 * 32 + pair % 8 / 2 * 8 + pair % 16 / 8 * 4 + pair % 2;
  }

  /** Returns the index of each channel in a stored pattern. // (headDim) */
  int[] places(int headDim) {
    int[] channels = rotation.pairOrder(headDim);
    int[] places = new int[headDim];
    for (int pair = 0; pair < headDim / 2; pair++) {
      places[channels[pair]] = place(pair);
      places[channels[headDim / 2 + pair]] = place(pair) + 2;
    }
    return places;
  }

  long bytes(int headDim) {
    return positionsAt(headDim) + (long) rows() * headDim / 2 * COS_SIN_BYTES;
  }

  private static int offsetsAt(int headDim) {
    return ORDER_AT + 2 * headDim * Short.BYTES;
  }

  private static int blockAt(int headDim) {
    return offsetsAt(headDim) + STRIDE * headDim * Short.BYTES;
  }

  private static int positionsAt(int headDim) {
    return blockAt(headDim) + BLOCK * headDim / 2 * COS_SIN_BYTES;
  }

  /** Uploads the tables; the caller closes them. */
  DeviceMemory upload(CudaContext context, CudaStream stream, int headDim) {
    long bytes = bytes(headDim);
    DeviceMemory memory = context.allocate(bytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment tables = arena.allocate(bytes, 128);
      put(tables, headDim);
      memory.upload(stream, 0, tables, bytes);
      stream.synchronize();
    }
    return memory;
  }

  void put(MemorySegment to, int headDim) {
    to.set(JAVA_INT, 0, rows());
    putOrder(to, headDim);
    putOffsets(to, rotation.table(headDim), headDim);
    putPositions(to, headDim);
  }

  private void putOrder(MemorySegment to, int headDim) {
    int[] channels = rotation.pairOrder(headDim);
    int half = headDim / 2;
    for (int i = 0; i < headDim; i++) {
      to.set(JAVA_SHORT, ORDER_AT + 2L * i, (short) channels[i]);
      short pair = (short) (i < half ? i : i - half | SECOND);
      to.set(JAVA_SHORT, ORDER_AT + 2L * (headDim + channels[i]), pair);
    }
  }

  private static void putOffsets(MemorySegment to, RopeTable table, int headDim) {
    int half = headDim / 2;
    for (int token = 0; token < BLOCK; token++) {
      for (int pair = 0; pair < half; pair++) {
        float cosine = table.cosines()[token * table.pairs() + pair];
        float sine = table.sines()[token * table.pairs() + pair];
        putAngle(to, blockAt(headDim), token * half + pair, cosine, sine);
        if (token < STRIDE) {
          long at = offsetsAt(headDim) + 2L * (token * headDim + place(pair));
          to.set(JAVA_SHORT, at, Float.floatToFloat16(cosine));
          to.set(JAVA_SHORT, at + 4, Float.floatToFloat16(sine));
        }
      }
    }
  }

  /** Rotates unit vectors to each position, which gives its cosines and sines. */
  private void putPositions(MemorySegment to, int headDim) {
    int half = headDim / 2;
    int[] channels = rotation.pairOrder(headDim);
    float[] unit = new float[headDim];
    for (int row = 0; row < rows(); row++) {
      for (int pair = 0; pair < half; pair++) {
        unit[channels[pair]] = 1;
        unit[channels[half + pair]] = 0;
      }
      rotation.rotate(unit, 0, headDim, 1, firstPosition + row * STRIDE);
      for (int pair = 0; pair < half; pair++) {
        float cosine = unit[channels[pair]];
        float sine = unit[channels[half + pair]];
        putAngle(to, positionsAt(headDim), row * half + pair, cosine, sine);
      }
    }
  }

  private static void putAngle(MemorySegment to, long from, int index, float cosine, float sine) {
    to.set(JAVA_FLOAT, from + (long) COS_SIN_BYTES * index, cosine);
    to.set(JAVA_FLOAT, from + (long) COS_SIN_BYTES * index + Float.BYTES, sine);
  }
}
