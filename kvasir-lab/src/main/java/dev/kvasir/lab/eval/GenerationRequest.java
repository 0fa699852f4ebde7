package dev.kvasir.lab.eval;

import java.io.Serializable;

/** A prompt that the model answers. */
public interface GenerationRequest extends Serializable {
  /** Returns the ids of the prompt, at least one. */
  int[] prompt();

  /** Returns the maximum number of tokens of the answer. */
  int maxTokens();

  /** Returns whether the answer so far is complete, so that generation stops. */
  default boolean isComplete(String answer) {
    return false;
  }

  /** Returns the tokens of the prompt and the longest answer. */
  default int maxLength() {
    return prompt().length + maxTokens();
  }
}
