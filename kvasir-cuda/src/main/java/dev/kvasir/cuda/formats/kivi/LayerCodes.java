package dev.kvasir.cuda.formats.kivi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.memory.PackedPage;
import java.lang.foreign.MemorySegment;

/**
 * The widths of layers as an argument of kernels, with the offsets in kivi.cuh:
 *
 * <pre>
 * u32 layers, 1 if all have the same; u32 -
 * layers times
 *   u32 offset from the first layer's page to this layer's, in 128 bytes; u32 widths
 * </pre>
 */
final class LayerCodes {
  static final int MAX_LAYERS = 256;
  private static final int LAYER_BYTES = 8;
  static final int BYTES = LAYER_BYTES * (1 + MAX_LAYERS);

  private LayerCodes() {}

  /**
   * @param target the arguments of a launch
   */
  static void write(KiviFormat format, AttentionShape shape, MemorySegment target, long at) {
    int layers = format.layers().size();
    target.set(JAVA_INT, at, layers);
    for (int layer = 0; layer < layers; layer++) {
      long offset = format.headOffset(shape.headDim(), layer) * shape.kvHeads();
      long own = at + LAYER_BYTES * (1L + layer);
      target.set(JAVA_INT, own, Math.toIntExact(offset / PackedPage.ALIGNMENT));
      target.set(JAVA_INT, own + Integer.BYTES, format.layer(layer).packed());
    }
  }
}
