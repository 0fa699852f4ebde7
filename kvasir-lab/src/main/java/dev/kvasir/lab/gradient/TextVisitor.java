package dev.kvasir.lab.gradient;

import java.util.OptionalInt;

/**
 * Follows a text through the layers, on the thread that computes. Arrays belong to the pass and
 * hold other numbers once the visitor has returned.
 */
public interface TextVisitor {
  /** Looks at nothing and never stops. */
  TextVisitor NONE = new TextVisitor() {};

  /**
   * From how many positions on, at least 0, a query is far from a token. A visitor that says so is
   * shown far gradients too, in a pass for gradients.
   */
  default OptionalInt farDistance() {
    return OptionalInt.empty();
  }

  /**
   * Called in each layer before it attends. What is written into the vectors is what the layer
   * attends with, except in a pass for gradients, which needs them as they are.
   *
   * @return false to end the pass here
   */
  default boolean forward(LayerVectors vectors) {
    return true;
  }

  /**
   * Called in each layer after it has attended, and before its feed-forward part.
   *
   * @return false to end the pass here
   */
  default boolean afterAttention(AttentionResult result) {
    return true;
  }

  /**
   * Called in each layer from the last to the first, in a pass for gradients.
   *
   * @return false to end the pass here
   */
  default boolean backward(LayerGradients gradients) {
    return true;
  }
}
