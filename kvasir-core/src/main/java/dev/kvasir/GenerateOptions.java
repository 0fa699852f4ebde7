package dev.kvasir;

import dev.kvasir.sampling.SamplingOptions;

/**
 * How long a generation may be and how its tokens are picked.
 *
 * @param maxTokens generated tokens at the most
 */
public record GenerateOptions(int maxTokens, SamplingOptions sampling) {
  /** Of {@link #defaults}. */
  public static final int MAX_TOKENS = 256;

  public GenerateOptions {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "max-tokens is %d; expected at least 1".formatted(maxTokens));
    }
  }

  /** What {@code kvasir generate} does: 256 tokens, picked with a seed of this call's own. */
  public static GenerateOptions defaults() {
    return new GenerateOptions(MAX_TOKENS, SamplingOptions.defaults());
  }

  /** 256 tokens, always the likeliest one: the same prompt gives the same text. */
  public static GenerateOptions greedy() {
    return new GenerateOptions(MAX_TOKENS, SamplingOptions.greedy());
  }

  public GenerateOptions withMaxTokens(int value) {
    return new GenerateOptions(value, sampling);
  }

  public GenerateOptions withSampling(SamplingOptions value) {
    return new GenerateOptions(maxTokens, value);
  }
}
