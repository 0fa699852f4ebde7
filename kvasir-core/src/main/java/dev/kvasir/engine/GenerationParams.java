package dev.kvasir.engine;

import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.TextStream;

/**
 * The parameters of a generation.
 *
 * @param maxTokens maximum generated tokens
 * @param prefix records the prompt's steps; null if the text is not prefilled from its first token,
 *     or must not be shared
 * @param states receives hidden states of the text, after which nothing is generated; null for a
 *     text that is continued
 */
public record GenerationParams(
    Sampler sampler, TextStream stream, int maxTokens, Prefix prefix, StateReceiver states) {
  public GenerationParams(Sampler sampler, TextStream stream, int maxTokens, Prefix prefix) {
    this(sampler, stream, maxTokens, prefix, null);
  }

  /** Returns the parameters of a text that is only read. */
  public static GenerationParams reading(StateReceiver states) {
    return new GenerationParams(null, null, 0, null, states);
  }
}
