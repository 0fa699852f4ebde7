package dev.kvasir;

import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import dev.kvasir.sampling.TokenConstraint;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The length of a generation and the sampling of its tokens.
 *
 * @param maxTokens maximum generated tokens
 * @param grammar constrains the text; empty for any text
 * @param topLikelihoods if present, {@link GenerationListener#likelihood} is called for each token,
 *     with as many of the most likely tokens
 */
public record GenerateOptions(
    int maxTokens,
    SamplingOptions sampling,
    Optional<TokenGrammar> grammar,
    OptionalInt topLikelihoods) {
  /** The default of {@link #defaults}. */
  public static final int MAX_TOKENS = 256;

  public GenerateOptions {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "max-tokens is %d; expected at least 1".formatted(maxTokens));
    }
  }

  /** Creates options without a grammar or log probabilities. */
  public GenerateOptions(int maxTokens, SamplingOptions sampling) {
    this(maxTokens, sampling, Optional.empty(), OptionalInt.empty());
  }

  /** Returns the options of {@code kvasir generate}: 256 tokens, sampled with a new seed. */
  public static GenerateOptions defaults() {
    return new GenerateOptions(MAX_TOKENS, SamplingOptions.defaults());
  }

  /** Returns 256 tokens of greedy decoding: the same prompt gives the same text. */
  public static GenerateOptions greedy() {
    return new GenerateOptions(MAX_TOKENS, SamplingOptions.greedy());
  }

  public GenerateOptions withMaxTokens(int value) {
    return new GenerateOptions(value, sampling, grammar, topLikelihoods);
  }

  public GenerateOptions withSampling(SamplingOptions value) {
    return new GenerateOptions(maxTokens, value, grammar, topLikelihoods);
  }

  public GenerateOptions withGrammar(TokenGrammar value) {
    return new GenerateOptions(maxTokens, sampling, Optional.of(value), topLikelihoods);
  }

  public GenerateOptions withTopLikelihoods(int value) {
    return new GenerateOptions(maxTokens, sampling, grammar, OptionalInt.of(value));
  }

  Sampler newSampler() {
    TokenConstraint constraint = grammar.map(TokenGrammar::constraint).orElse(TokenConstraint.NONE);
    return new Sampler(sampling, constraint, topLikelihoods);
  }
}
