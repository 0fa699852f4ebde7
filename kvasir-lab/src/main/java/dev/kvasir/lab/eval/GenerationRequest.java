package dev.kvasir.lab.eval;

import java.io.Serializable;

/** A prompt that the model answers. */
interface GenerationRequest extends Serializable {
  int[] prompt();

  /** Returns the maximum number of tokens of the answer. */
  int maxTokens();

  default double cost() {
    return ProgressCounter.prefillCost(0, prompt().length)
        + ProgressCounter.decodeCost(prompt().length, maxTokens());
  }

  /** Returns the tokens of the prompt and the longest answer. */
  default int maxLength() {
    return prompt().length + maxTokens();
  }
}
