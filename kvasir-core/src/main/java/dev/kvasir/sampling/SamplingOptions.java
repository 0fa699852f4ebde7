package dev.kvasir.sampling;

import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How a token is picked. Filters apply in the order of the components.
 *
 * @param repetitionPenalty divides the logits of tokens already seen, in the prompt too; 1 for off
 * @param presencePenalty is subtracted from the logits of tokens that were generated; 0 for off
 * @param frequencyPenalty is subtracted as often as a token was generated; 0 for off
 * @param logitBias is added to the logits of the tokens it names
 * @param temperature 0 always takes the likeliest token
 * @param topK keeps the k likeliest, 0 for all
 * @param topP keeps the likeliest until their probabilities reach p, 1 for all
 * @param minP drops tokens less likely than this share of the likeliest, 0 for none
 * @param seed the same seed gives the same choices
 */
public record SamplingOptions(
    double repetitionPenalty,
    double presencePenalty,
    double frequencyPenalty,
    Map<Integer, Float> logitBias,
    double temperature,
    int topK,
    double topP,
    double minP,
    long seed) {
  /**
   * Of {@link #defaults}: high enough for a small model. Of 30 texts of 256 tokens that the bundled
   * one wrote at 0.8 and {@link #MIN_P}, 6 had fallen into a loop, and none at 0.9.
   */
  public static final double DEFAULT_TEMPERATURE = 0.9;

  /** Of {@link #defaults}: drops what would be out of place, and keeps much where much fits. */
  public static final double DEFAULT_MIN_P = 0.05;

  private static final double MAX_PENALTY = 2;
  private static final float MAX_BIAS = 100;

  /** Ten digits at the most, to be typed again. */
  private static final long SEED_BOUND = 1L << 32;

  public SamplingOptions {
    check(
        repetitionPenalty > 0 && repetitionPenalty < 1e6,
        "repetition penalty",
        repetitionPenalty,
        "more than 0 and less than a million");
    checkPenalty("presence penalty", presencePenalty);
    checkPenalty("frequency penalty", frequencyPenalty);
    logitBias = Map.copyOf(logitBias);
    logitBias.forEach(SamplingOptions::checkBias);
    check(
        temperature >= 0 && temperature < 1e6,
        "temperature",
        temperature,
        "0 or more and less than a million");
    check(topK >= 0, "top-k", topK, "0 or more");
    check(topP > 0 && topP <= 1, "top-p", topP, "more than 0 and at most 1");
    check(minP >= 0 && minP <= 1, "min-p", minP, "0 to 1");
  }

  private static void check(boolean good, String what, Number value, String expected) {
    if (!good) {
      throw new IllegalArgumentException("%s is %s; expected %s".formatted(what, value, expected));
    }
  }

  private static void checkPenalty(String what, double value) {
    check(Math.abs(value) <= MAX_PENALTY, what, value, "-2 to 2");
  }

  private static void checkBias(int token, float bias) {
    check(token >= 0, "a token of the logit bias", token, "0 or more");
    check(Math.abs(bias) <= MAX_BIAS, "the logit bias of token " + token, bias, "-100 to 100");
  }

  /** Refuses a bias of tokens that a model does not have; sampling itself ignores those. */
  public void checkTokens(int vocabulary) {
    for (int token : logitBias.keySet()) {
      check(token < vocabulary, "a token of the logit bias", token, "0 to " + (vocabulary - 1));
    }
  }

  /**
   * What reads well: a temperature and min-p. Every call draws a seed, so every text is another
   * one; the same options give the same text again.
   */
  public static SamplingOptions defaults() {
    return greedy()
        .withTemperature(DEFAULT_TEMPERATURE)
        .withMinP(DEFAULT_MIN_P)
        .withSeed(ThreadLocalRandom.current().nextLong(SEED_BOUND));
  }

  /** Always the likeliest token. */
  public static SamplingOptions greedy() {
    return new SamplingOptions(1, 0, 0, Map.of(), 0, 0, 1, 0, 0);
  }

  public SamplingOptions withRepetitionPenalty(double value) {
    return new SamplingOptions(
        value, presencePenalty, frequencyPenalty, logitBias, temperature, topK, topP, minP, seed);
  }

  public SamplingOptions withPresencePenalty(double value) {
    return new SamplingOptions(
        repetitionPenalty, value, frequencyPenalty, logitBias, temperature, topK, topP, minP, seed);
  }

  public SamplingOptions withFrequencyPenalty(double value) {
    return new SamplingOptions(
        repetitionPenalty, presencePenalty, value, logitBias, temperature, topK, topP, minP, seed);
  }

  public SamplingOptions withLogitBias(Map<Integer, Float> value) {
    return new SamplingOptions(
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        value,
        temperature,
        topK,
        topP,
        minP,
        seed);
  }

  public SamplingOptions withTemperature(double value) {
    return new SamplingOptions(
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        logitBias,
        value,
        topK,
        topP,
        minP,
        seed);
  }

  public SamplingOptions withTopK(int value) {
    return new SamplingOptions(
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        logitBias,
        temperature,
        value,
        topP,
        minP,
        seed);
  }

  public SamplingOptions withTopP(double value) {
    return new SamplingOptions(
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        logitBias,
        temperature,
        topK,
        value,
        minP,
        seed);
  }

  public SamplingOptions withMinP(double value) {
    return new SamplingOptions(
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        logitBias,
        temperature,
        topK,
        topP,
        value,
        seed);
  }

  public SamplingOptions withSeed(long value) {
    return new SamplingOptions(
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        logitBias,
        temperature,
        topK,
        topP,
        minP,
        value);
  }
}
