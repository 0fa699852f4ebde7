package dev.kvasir.sampling;

/**
 * How a token is picked. Filters apply in the order of the components; each is off at its default.
 *
 * @param repetitionPenalty divides the logits of tokens already seen, 1 for off
 * @param temperature 0 always takes the likeliest token
 * @param topK keeps the k likeliest, 0 for all
 * @param topP keeps the likeliest until their probabilities reach p, 1 for all
 * @param minP drops tokens less likely than this share of the likeliest, 0 for none
 * @param seed the same seed gives the same choices
 */
public record SamplingOptions(
    double repetitionPenalty, double temperature, int topK, double topP, double minP, long seed) {

  public SamplingOptions {
    check(
        repetitionPenalty > 0 && repetitionPenalty < 1e6,
        "repetition penalty",
        repetitionPenalty,
        "more than 0 and less than a million");
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

  /** Always the likeliest token. */
  public static SamplingOptions greedy() {
    return new SamplingOptions(1, 0, 0, 1, 0, 0);
  }

  public SamplingOptions withTemperature(double value) {
    return new SamplingOptions(repetitionPenalty, value, topK, topP, minP, seed);
  }

  public SamplingOptions withTopK(int value) {
    return new SamplingOptions(repetitionPenalty, temperature, value, topP, minP, seed);
  }

  public SamplingOptions withTopP(double value) {
    return new SamplingOptions(repetitionPenalty, temperature, topK, value, minP, seed);
  }

  public SamplingOptions withMinP(double value) {
    return new SamplingOptions(repetitionPenalty, temperature, topK, topP, value, seed);
  }

  public SamplingOptions withRepetitionPenalty(double value) {
    return new SamplingOptions(value, temperature, topK, topP, minP, seed);
  }

  public SamplingOptions withSeed(long value) {
    return new SamplingOptions(repetitionPenalty, temperature, topK, topP, minP, value);
  }
}
