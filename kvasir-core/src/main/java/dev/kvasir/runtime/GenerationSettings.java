package dev.kvasir.runtime;

import dev.kvasir.SamplingOptions;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.TokenConstraint;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The length of a generation and the sampling of its tokens.
 *
 * @param maxTokens maximum generated tokens
 * @param grammar constrains the text; empty for any text
 * @param topLogprobs if present, {@link dev.kvasir.GenerationListener#logprob} is called for each
 *     token, with as many of the most likely tokens
 * @param visibleTokens special tokens that are part of the generated text
 */
public record GenerationSettings(
    int maxTokens,
    SamplingOptions sampling,
    Optional<TokenGrammar> grammar,
    OptionalInt topLogprobs,
    Set<Integer> visibleTokens) {
  /** The default of {@link #defaults}. */
  public static final int MAX_TOKENS = 256;

  public GenerationSettings {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "max-tokens is %d; expected at least 1".formatted(maxTokens));
    }
    visibleTokens = Set.copyOf(visibleTokens);
  }

  /** Creates options that leave special tokens out of the text. */
  public GenerationSettings(
      int maxTokens,
      SamplingOptions sampling,
      Optional<TokenGrammar> grammar,
      OptionalInt topLogprobs) {
    this(maxTokens, sampling, grammar, topLogprobs, Set.of());
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
    return new GenerationSettings(value, sampling, grammar, topLogprobs, visibleTokens);
  }

  public GenerationSettings withSampling(SamplingOptions value) {
    return new GenerationSettings(maxTokens, value, grammar, topLogprobs, visibleTokens);
  }

  public GenerationSettings withGrammar(TokenGrammar value) {
    return new GenerationSettings(
        maxTokens, sampling, Optional.of(value), topLogprobs, visibleTokens);
  }

  public GenerationSettings withTopLogprobs(int value) {
    return new GenerationSettings(
        maxTokens, sampling, grammar, OptionalInt.of(value), visibleTokens);
  }

  public GenerationSettings withVisibleTokens(Set<Integer> value) {
    return new GenerationSettings(maxTokens, sampling, grammar, topLogprobs, value);
  }

  Sampler newSampler() {
    TokenConstraint constraint = grammar.map(TokenGrammar::constraint).orElse(TokenConstraint.NONE);
    return new Sampler(sampling, constraint, topLogprobs);
  }
}
