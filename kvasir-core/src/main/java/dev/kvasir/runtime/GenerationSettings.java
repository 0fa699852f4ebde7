package dev.kvasir.runtime;

import dev.kvasir.SamplingOptions;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.TokenConstraint;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The length of a generation and the sampling of its tokens.
 *
 * @param maxTokens maximum generated tokens
 * @param grammar constrains the text; empty for any text
 * @param topLogprobs if present, {@link dev.kvasir.GenerationListener#logprob} is called for each
 *     token, with as many of the most likely tokens
 */
public record GenerationSettings(
    int maxTokens,
    SamplingOptions sampling,
    Optional<TokenGrammar> grammar,
    OptionalInt topLogprobs) {
  /** The default of {@link #defaults}. */
  public static final int MAX_TOKENS = 256;

  public GenerationSettings {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "max-tokens is %d; expected at least 1".formatted(maxTokens));
    }
  }

  /** Creates options without a grammar or log probabilities. */
  public GenerationSettings(int maxTokens, SamplingOptions sampling) {
    this(maxTokens, sampling, Optional.empty(), OptionalInt.empty());
  }

  /** Returns the options of {@code kvasir generate}: 256 tokens, sampled with a new seed. */
  public static GenerationSettings defaults() {
    return new GenerationSettings(MAX_TOKENS, SamplingOptions.defaults());
  }

  /** Returns 256 tokens of greedy decoding: the same prompt gives the same text. */
  public static GenerationSettings greedy() {
    return new GenerationSettings(MAX_TOKENS, SamplingOptions.greedy());
  }

  public GenerationSettings withMaxTokens(int value) {
    return new GenerationSettings(value, sampling, grammar, topLogprobs);
  }

  public GenerationSettings withSampling(SamplingOptions value) {
    return new GenerationSettings(maxTokens, value, grammar, topLogprobs);
  }

  public GenerationSettings withGrammar(TokenGrammar value) {
    return new GenerationSettings(maxTokens, sampling, Optional.of(value), topLogprobs);
  }

  public GenerationSettings withTopLogprobs(int value) {
    return new GenerationSettings(maxTokens, sampling, grammar, OptionalInt.of(value));
  }

  Sampler newSampler() {
    TokenConstraint constraint = grammar.map(TokenGrammar::constraint).orElse(TokenConstraint.NONE);
    return new Sampler(sampling, constraint, topLogprobs);
  }
}
