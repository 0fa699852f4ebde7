package dev.kvasir.lab.eval;

import dev.kvasir.Prefill;

/**
 * How texts and documents are read into a cache.
 *
 * @param prefill whether a prompt is quantized during prefill or at its end, as in the papers of
 *     methods that learn from a prompt
 * @param promptTokens leading tokens of the text that are read as a prompt and not scored
 */
public record Reading(Prefill prefill, int promptTokens) {
  /** Quantizes during prefill and scores every token of the text. */
  public static final Reading CHUNKED = new Reading(Prefill.CHUNKED, 0);

  public Reading {
    if (promptTokens < 0) {
      throw new IllegalArgumentException("prompt is %d tokens".formatted(promptTokens));
    }
  }

  /**
   * Quantizes at the end of the prompt, which is the first half of the text; a text that is all
   * prompt would never meet a quantized past.
   */
  public static Reading exact(int context) {
    return new Reading(Prefill.EXACT, context / 2);
  }
}
