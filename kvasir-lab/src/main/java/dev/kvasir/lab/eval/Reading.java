package dev.kvasir.lab.eval;

import dev.kvasir.Prefill;

/**
 * How texts and documents reach a cache.
 *
 * @param prefill when a prompt is packed: while it is read, or at its end, as methods that learn
 *     from a prompt have it in their papers
 * @param promptTokens tokens of the text that are its prompt: read first, and not scored
 */
public record Reading(Prefill prefill, int promptTokens) {
  /** Packed on the way, every token of the text scored. */
  public static final Reading CHUNKED = new Reading(Prefill.CHUNKED, 0);

  public Reading {
    if (promptTokens < 0) {
      throw new IllegalArgumentException("prompt is %d tokens".formatted(promptTokens));
    }
  }

  /**
   * Packed at the end of a prompt: the first half of a text, since a text that is all prompt meets
   * no packed past.
   */
  public static Reading exact(int context) {
    return new Reading(Prefill.EXACT, context / 2);
  }

  boolean isExact() {
    return prefill == Prefill.EXACT;
  }
}
