package dev.kvasir.sampling;

/**
 * Says which tokens may come next, such as those that continue a text of a grammar. It follows one
 * generation and belongs to it.
 */
public interface TokenConstraint {
  /** Lets everything come. */
  TokenConstraint NONE =
      new TokenConstraint() {
        @Override
        public void mask(float[] logits, int at, int vocabulary) {}

        @Override
        public void accept(int token) {}
      };

  /**
   * Sets the logits of tokens that may not come to negative infinity. At least one token is left:
   * one that ends the text where nothing else may come.
   */
  void mask(float[] logits, int at, int vocabulary);

  /** Notes the token that came. */
  void accept(int token);
}
