package dev.kvasir.lab.eval;

import java.io.Serializable;

/**
 * A piece of text that fp16 continues and all other rows follow.
 *
 * @param prompt ids, at least one
 * @param tokens number of tokens to generate
 * @param seed seed of the sampler
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
