package dev.kvasir.lab.gradient;

/**
 * Follows a text through the layers, on the thread that computes. Arrays belong to the pass and
 * hold other numbers once the visitor has returned.
 */
public interface TextVisitor {
  /** Looks at nothing and never stops. */
  TextVisitor NONE = new TextVisitor() {};

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
   * Called in each layer from the last to the first, in a pass for gradients.
   *
   * @return false to end the pass here
   */
  default boolean backward(LayerGradients gradients) {
    return true;
  }
}
