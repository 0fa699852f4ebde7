package dev.kvasir;

import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How tokens are sampled. Filters apply in the order of the components.
 *
 * @param repetitionPenalty divides the logits of tokens in the prompt or the output; 1 disables it
 * @param presencePenalty is subtracted from the logits of generated tokens; 0 disables it
 * @param frequencyPenalty is subtracted once per occurrence of a generated token; 0 disables it
 * @param logitBias is added to the logits of these tokens
 * @param temperature 0 always takes the most likely token
 * @param topK keeps the k most likely tokens; 0 for all
 * @param topP keeps the most likely tokens up to cumulative probability p; 1 for all
 * @param minP drops tokens below this fraction of the highest probability; 0 for none
 * @param seed the seed of the random generator
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
   * The temperature of {@link #defaults}, high enough for a small model. Of 30 texts of 256 tokens
   * by the bundled model with {@link #DEFAULT_MIN_P}, 6 ended in a loop at 0.8, and none at 0.9.
   */
  public static final double DEFAULT_TEMPERATURE = 0.9;

  /**
   * The min-p of {@link #defaults}. It drops implausible tokens, and keeps many where many are
   * plausible.
   */
  public static final double DEFAULT_MIN_P = 0.05;

  private static final double MAX_PENALTY = 2;
  private static final float MAX_BIAS = 100;

  /** Seeds have at most ten digits, so that they are easy to type. */
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

  /** Rejects a bias for tokens outside the vocabulary; sampling itself ignores them. */
  public void checkTokens(int vocabulary) {
    for (int token : logitBias.keySet()) {
      check(token < vocabulary, "a token of the logit bias", token, "0 to " + (vocabulary - 1));
    }
  }

  /** Returns a temperature and min-p that read well, with a new random seed for each call. */
  public static SamplingOptions defaults() {
    return builder().build();
  }

  /** Returns options that always take the most likely token. */
  public static SamplingOptions greedy() {
    return new SamplingOptions(1, 0, 0, Map.of(), 0, 0, 1, 0, 0);
  }

  /** Returns a builder that starts from {@link #defaults}. */
  public static Builder builder() {
    return greedy().toBuilder()
        .temperature(DEFAULT_TEMPERATURE)
        .minP(DEFAULT_MIN_P)
        .seed(ThreadLocalRandom.current().nextLong(SEED_BOUND));
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Builds {@link SamplingOptions}. */
  public static final class Builder {
    private double repetitionPenalty;
    private double presencePenalty;
    private double frequencyPenalty;
    private Map<Integer, Float> logitBias;
    private double temperature;
    private int topK;
    private double topP;
    private double minP;
    private long seed;

    private Builder(SamplingOptions options) {
      repetitionPenalty = options.repetitionPenalty;
      presencePenalty = options.presencePenalty;
      frequencyPenalty = options.frequencyPenalty;
      logitBias = options.logitBias;
      temperature = options.temperature;
      topK = options.topK;
      topP = options.topP;
      minP = options.minP;
      seed = options.seed;
    }

    public Builder repetitionPenalty(double value) {
      repetitionPenalty = value;
      return this;
    }

    public Builder presencePenalty(double value) {
      presencePenalty = value;
      return this;
    }

    public Builder frequencyPenalty(double value) {
      frequencyPenalty = value;
      return this;
    }

    public Builder logitBias(Map<Integer, Float> value) {
      logitBias = value;
      return this;
    }

    public Builder temperature(double value) {
      temperature = value;
      return this;
    }

    public Builder topK(int value) {
      topK = value;
      return this;
    }

    public Builder topP(double value) {
      topP = value;
      return this;
    }

    public Builder minP(double value) {
      minP = value;
      return this;
    }

    public Builder seed(long value) {
      seed = value;
      return this;
    }

    public SamplingOptions build() {
      return new SamplingOptions(
          repetitionPenalty,
          presencePenalty,
          frequencyPenalty,
          logitBias,
          temperature,
          topK,
          topP,
          minP,
          seed);
    }
  }
}
