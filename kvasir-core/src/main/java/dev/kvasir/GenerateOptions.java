package dev.kvasir;

import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import dev.kvasir.sampling.TokenConstraint;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How long a generation may be and how its tokens are picked.
 *
 * @param maxTokens generated tokens at the most
 * @param grammar that the text is held to; empty for any text
 * @param topLikelihoods where present, {@link GenerationListener#likelihood} is told of each token,
 *     and of as many of the likeliest ones
 */
public record GenerateOptions(
    int maxTokens,
    SamplingOptions sampling,
    Optional<TokenGrammar> grammar,
    OptionalInt topLikelihoods) {
  /** Of {@link #defaults}. */
  public static final int MAX_TOKENS = 256;

  public GenerateOptions {
    if (maxTokens < 1) {
      throw new IllegalArgumentException(
          "max-tokens is %d; expected at least 1".formatted(maxTokens));
    }
  }

  /** Any text, with nothing told of its tokens. */
  public GenerateOptions(int maxTokens, SamplingOptions sampling) {
    this(maxTokens, sampling, Optional.empty(), OptionalInt.empty());
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
