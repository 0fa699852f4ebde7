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
  double work() {
    return Pace.reading(0, prompt.length - 1) + Pace.writing(prompt.length, tokens);
  }

  int longest() {
    return prompt.length + tokens;
  }
}
