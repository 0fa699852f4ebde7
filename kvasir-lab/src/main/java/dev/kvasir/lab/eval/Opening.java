package dev.kvasir.lab.eval;

import java.io.Serializable;

/**
 * A piece of text that half precision continues, and every row after it.
 *
 * @param prompt ids, of which there is one at least
 * @param tokens to write
 * @param seed of the choices between likely tokens
 */
record Opening(int[] prompt, int tokens, long seed) implements Serializable {
  double cost() {
    return ProgressCounter.prefillCost(0, prompt.length - 1)
        + ProgressCounter.decodeCost(prompt.length, tokens);
  }

  int maxLength() {
    return prompt.length + tokens;
  }
}
