package dev.kvasir.lab.gradient;

/** The feed-forward part of a layer over all tokens of a text. */
sealed interface FeedForward permits GatedFeedForward, ExpertFeedForward {
  /**
   * Computes what the backward pass needs.
   *
   * @param normed input (tokens, hidden); must not change until the backward pass
   */
  void prepare(float[] normed);

  /**
   * Computes the output, after {@link #prepare}.
   *
   * @param out (tokens, hidden), set
   */
  void finish(float[] out);

  /**
   * Adds the gradients of the input, after {@link #prepare}.
   *
   * @param dOut gradients of the output (tokens, hidden)
   * @param dNormed (tokens, hidden), added to
   */
  void addBackward(float[] dOut, float[] dNormed);
}
