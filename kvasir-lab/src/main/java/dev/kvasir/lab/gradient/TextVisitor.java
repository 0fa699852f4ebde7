package dev.kvasir.lab.gradient;

import java.util.OptionalInt;

/**
 * Observes the layers of a pass over a text, on the computing thread. The arrays belong to the pass
 * and are valid only during the call.
 */
public interface TextVisitor {
  /** Observes nothing and never stops. */
  TextVisitor NONE = new TextVisitor() {};

  /**
   * Returns the distance in positions, at least 0, from which a query is far from a token. If
   * present, gradient passes compute long-range gradients too.
   */
  default OptionalInt farDistance() {
    return OptionalInt.empty();
  }

  /**
   * Called in each layer before attention. The layer attends with whatever is written into the
   * vectors, except in a gradient pass, which needs them unchanged.
   *
   * @return false to end the pass
   */
  default boolean forward(LayerVectors vectors) {
    return true;
  }

  /**
   * Called in each layer after attention and before the feed-forward network.
   *
   * @return false to end the pass
   */
  default boolean afterAttention(AttentionResult result) {
    return true;
  }

  /**
   * Called in each layer from the last to the first, in a gradient pass.
   *
   * @return false to end the pass
   */
  default boolean backward(LayerGradients gradients) {
    return true;
  }
}
