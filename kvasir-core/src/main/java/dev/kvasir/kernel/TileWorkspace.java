package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/** A worker's room for the tile of weights that it multiplies; what it holds is nobody's. */
public final class TileWorkspace {
  private MemorySegment bytes = MemorySegment.ofArray(new byte[0]);
  private float[] weights = {};
  private float[] activations = {};
  private final RowBlock activationRows = new RowBlock();
  private final RowBlock weightRows = new RowBlock();
  private ScalarGemm.WeightPanel panel; // null until it is asked for

  /** The tile as bytes, for kernels that are no Java. */
  public MemorySegment bytes(int count) {
    if (bytes.byteSize() < count) {
      bytes = MemorySegment.ofArray(new byte[count]);
    }
    return bytes;
  }

  /** Some tiles as the Java kernels multiply them. */
  ScalarGemm.WeightPanel panel() {
    if (panel == null) {
      panel = new ScalarGemm.WeightPanel();
    }
    return panel;
  }

  /** Its codes or its weights as floats. */
  public float[] weights(int count) {
    if (weights.length < count) {
      weights = new float[count];
    }
    return weights;
  }

  /** An operand for rows of activations; where it points is up to the caller. */
  public RowBlock activationRows() {
    return activationRows;
  }

  /** An operand for rows of weights; where it points is up to the caller. */
  public RowBlock weightRows() {
    return weightRows;
  }

  /** Rows of activations that lie elsewhere among others. */
  float[] activations(int count) {
    if (activations.length < count) {
      activations = new float[count];
    }
    return activations;
  }
}
