package dev.kvasir.sampling;

/**
 * Restricts which tokens may come next, for example to a grammar. It has the state of one
 * generation.
 */
public interface TokenConstraint {
  /** Allows every token. */
  TokenConstraint NONE =
      new TokenConstraint() {
        @Override
        public void mask(float[] logits, int at, int vocabulary) {}

        @Override
        public void accept(int token) {}
      };

  /**
   * Sets the logits of forbidden tokens to negative infinity. At least one token stays: an
   * end-of-text token if nothing else is allowed.
   */
  void mask(float[] logits, int at, int vocabulary);

  /** Advances by the sampled token. */
  void accept(int token);
}
