package dev.kvasir.encoder;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.memory.CountedArena;
import java.util.List;
import java.util.Optional;

/**
 * The weights of an encoder as 32-bit floats, and the memory that owns them.
 *
 * @param positions empty with rotary positions
 * @param types one vector for each type of token
 * @param head empty for a model that only encodes
 */
record BertWeights(
    DenseMatrix words, // (vocabulary, hidden)
    float[] positions, // (positions, hidden)
    float[] types, // (types, hidden)
    Norm norm,
    List<Layer> layers,
    Optional<Head> head,
    CountedArena arena)
    implements AutoCloseable {
  static final float[] NO_BIAS = {};

  /** Scale and shift of a layer norm. */
  record Norm(float[] weight, float[] bias) {}

  /** A matrix with one bias per row, or without. */
  record Linear(Matrix matrix, float[] bias) {}

  /**
   * One layer; norms follow the residual additions.
   *
   * @param gate empty without gates
   */
  record Layer(
      Linear query,
      Linear key,
      Linear value,
      Linear attentionOut,
      Norm attentionNorm,
      Linear up,
      Optional<Linear> gate,
      Linear down,
      Norm outputNorm) {}

  /**
   * Scores a pair of texts by the vector of its first token: {@code out(tanh(dense(x)))}.
   *
   * @param dense empty for a head that has the last product only
   */
  record Head(Optional<Linear> dense, Linear out) {}

  @Override
  public void close() {
    arena.close();
  }
}
