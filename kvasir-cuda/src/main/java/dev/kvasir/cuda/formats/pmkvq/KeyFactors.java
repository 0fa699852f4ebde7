package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.model.LayerRange;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The factors that keys of all layers are divided by before quantization. Two of them are equal if
 * all of their numbers are, so that caches of one profile share their resources.
 */
public final class KeyFactors {
  private final float[] factors; // (layers, kvHeads, keyDim)
  private final int hash;

  /**
   * @param factors (layers, kvHeads, keyDim)
   */
  public KeyFactors(float[] factors) {
    this.factors = factors.clone();
    this.hash = Arrays.hashCode(factors);
  }

  /** Returns the factors of all layers; empty if there are none. */
  static Optional<KeyFactors> of(List<SmoothingFactors> layers) {
    if (layers.isEmpty()) {
      return Optional.empty();
    }
    int count = layers.getFirst().factors().length;
    float[] all = new float[layers.size() * count];
    for (int layer = 0; layer < layers.size(); layer++) {
      System.arraycopy(layers.get(layer).factors(), 0, all, layer * count, count);
    }
    return Optional.of(new KeyFactors(all));
  }

  /** Returns the factors of some layers. */
  KeyFactors ofLayers(LayerRange range) {
    int each = factors.length / range.all();
    return new KeyFactors(Arrays.copyOfRange(factors, range.first() * each, range.end() * each));
  }

  /** Uploads the factors in the order of layers. */
  DeviceMemory upload(CudaContext context, CudaStream stream) {
    return upload(context, stream, new int[1]);
  }

  /**
   * Uploads the factors.
   *
   * @param order the layer at each place
   */
  DeviceMemory upload(CudaContext context, CudaStream stream, int[] order) {
    DeviceMemory memory = context.allocate((long) Float.BYTES * factors.length);
    int count = factors.length / order.length;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(memory.bytes(), 16);
      for (int place = 0; place < order.length; place++) {
        MemorySegment.copy(
            factors,
            order[place] * count,
            source,
            ValueLayout.JAVA_FLOAT,
            (long) Float.BYTES * place * count,
            count);
      }
      memory.upload(stream, 0, source, memory.bytes());
      stream.synchronize();
    }
    return memory;
  }

  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof KeyFactors those
            && hash == those.hash
            && Arrays.equals(factors, those.factors);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return "%d factors".formatted(factors.length);
  }
}
