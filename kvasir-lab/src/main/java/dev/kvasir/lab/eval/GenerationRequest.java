package dev.kvasir.lab.eval;

import java.io.Serializable;

/** What a model reads, and then writes an answer to. */
interface GenerationRequest extends Serializable {
  int[] prompt();

  /** Of an answer. */
  int maxTokens();

  default double cost() {
    return ProgressCounter.prefillCost(0, prompt().length)
        + ProgressCounter.decodeCost(prompt().length, maxTokens());
  }

  /** With the longest answer. */
  default int maxLength() {
    return prompt().length + maxTokens();
  }
}
