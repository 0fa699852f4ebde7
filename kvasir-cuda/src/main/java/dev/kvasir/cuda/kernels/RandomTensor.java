package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** Tensors of any type with random numbers, for benchmarks and tests. */
final class RandomTensor {
  private RandomTensor() {}

  static Tensor of(GgmlType type, int rows, int columns, long seed) {
    Random random = new Random(seed);
    byte[] bytes = new byte[(int) type.bytesFor((long) rows * columns)];
    random.nextBytes(bytes);
    MemorySegment data = MemorySegment.ofArray(bytes);
    for (int block = 0; block < bytes.length; block += type.blockBytes()) {
      for (int at : halves(type)) {
        float number = 0.001f + 0.01f * random.nextFloat();
        data.set(JAVA_SHORT_UNALIGNED, block + at, half(type, random, number));
      }
    }
    return new Tensor(type + " at random", type, new long[] {rows, columns}, data);
  }

  private static short half(GgmlType type, Random random, float scale) {
    return switch (type) {
      case F16 -> Float.floatToFloat16((float) random.nextGaussian() * 0.1f);
      case BF16 -> (short) (Float.floatToRawIntBits((float) random.nextGaussian() * 0.1f) >>> 16);
      default -> Float.floatToFloat16(scale);
    };
  }

  /** Returns the offsets of floating-point numbers within a block. */
  private static int[] halves(GgmlType type) {
    return switch (type) {
      case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {0, 2};
      case Q6_K -> new int[] {208};
      default -> new int[] {0};
    };
  }
}
