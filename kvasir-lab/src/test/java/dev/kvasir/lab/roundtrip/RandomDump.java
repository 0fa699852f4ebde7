package dev.kvasir.lab.roundtrip;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.Random;

/** Dumps of noise with a few channels far from zero, as is typical of keys. */
final class RandomDump {
  private RandomDump() {}

  /** Has no queries if {@code queryTokens} is 0. */
  static Dump of(int kvHeads, int group, int tokens, int queryTokens, int headDim) {
    Random random = new Random(7);
    HeadVectors keys = vectors("k.npy", random, 2, kvHeads, tokens, headDim);
    HeadVectors values = vectors("v.npy", random, 0, kvHeads, tokens, headDim);
    return new Dump(
        keys,
        values,
        queryTokens == 0
            ? Optional.empty()
            : Optional.of(vectors("q.npy", random, 0, kvHeads * group, queryTokens, headDim)));
  }

  private static HeadVectors vectors(
      String name, Random random, int offset, int heads, int tokens, int headDim) {
    float[] values = new float[heads * tokens * headDim];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian() + offset * (i % headDim % 3);
    }
    return vectors(name, values, heads, tokens, headDim);
  }

  static HeadVectors vectors(String name, float[] values, long... shape) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    MemorySegment data = MemorySegment.ofArray(bytes.array());
    return new HeadVectors(new Tensor(name, GgmlType.F32, shape, data));
  }
}
