package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * A worker's scratch memory for the tile of weights that it multiplies. Contents do not survive a
 * kernel call.
 */
public final class TileWorkspace {
  private MemorySegment bytes = MemorySegment.ofArray(new byte[0]);
  private float[] weights = {};
  private float[] activations = {};
  private final RowBlock activationRows = new RowBlock();
  private final RowBlock weightRows = new RowBlock();
  private ScalarGemm.WeightPanel panel; // null until first used
  private TileProducts products; // null until first used

  /** Returns a buffer for the tile as bytes, for native kernels. */
  public MemorySegment bytes(int count) {
    if (bytes.byteSize() < count) {
      bytes = MemorySegment.ofArray(new byte[count]);
    }
    return bytes;
  }

  /** Returns a panel of tiles for the Java kernels. */
  ScalarGemm.WeightPanel panel() {
    if (panel == null) {
      panel = new ScalarGemm.WeightPanel();
    }
    return panel;
  }

  /** Returns scratch memory for products with one row of activations, for the Java kernels. */
  TileProducts products() {
    if (products == null) {
      products = new TileProducts();
    }
    return products;
  }

  /** Returns a buffer for the tile's codes or weights as floats. */
  public float[] weights(int count) {
    if (weights.length < count) {
      weights = new float[count];
    }
    return weights;
  }

  /** Returns an operand that the caller points at rows of activations. */
  public RowBlock activationRows() {
    return activationRows;
  }

  /** Returns an operand that the caller points at rows of weights. */
  public RowBlock weightRows() {
    return weightRows;
  }

  /** Returns a buffer for rows of activations that are copied out of a larger array. */
  float[] activations(int count) {
    if (activations.length < count) {
      activations = new float[count];
    }
    return activations;
  }
}
