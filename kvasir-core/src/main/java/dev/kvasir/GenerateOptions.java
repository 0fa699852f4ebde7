package dev.kvasir;

import dev.kvasir.sampling.SamplingOptions;

/**
 * How long a generation may be and how its tokens are picked.
 *
 * @param maxTokens generated tokens at the most
 */
public record GenerateOptions(int maxTokens, SamplingOptions sampling) {
  public GenerateOptions {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "max-tokens is %d; expected at least 1".formatted(maxTokens));
    }
  }

  /** 256 tokens, always the likeliest one. */
  public static GenerateOptions defaults() {
    return new GenerateOptions(256, SamplingOptions.greedy());
  }

  public GenerateOptions withMaxTokens(int value) {
    return new GenerateOptions(value, sampling);
  }

  public GenerateOptions withSampling(SamplingOptions value) {
    return new GenerateOptions(maxTokens, value);
  }
}
