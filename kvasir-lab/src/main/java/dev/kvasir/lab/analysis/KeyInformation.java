package dev.kvasir.lab.analysis;

import java.util.List;

/**
 * The mutual information of keys between prompts, sampled answers and positions (PatternKV, Table
 * 5), as means over layers and pairs of tokens.
 *
 * @param random between channels in random order
 * @param betweenPrompts between tokens at the same place in different prompts
 * @param betweenSamples between tokens at the same place in different answers to one prompt
 * @param betweenTokens between tokens at different places in one text
 */
public record KeyInformation(
    double random, double betweenPrompts, double betweenSamples, double betweenTokens) {
  /** Pairs of tokens for each pair of texts. */
  private static final int PAIRS = 16;

  /** Early tokens see little context and differ from all others. */
  private static final double FIRST = 0.5;

  private enum Way {
    SHUFFLED,
    SAME_PLACE,
    OTHER_PLACE
  }

  /**
   * @param prompts different texts
   * @param samples texts that continue one prompt
   */
  public static KeyInformation of(List<KeysAndValues> prompts, List<KeysAndValues> samples) {
    return new KeyInformation(
        mean(prompts, Way.SHUFFLED),
        mean(prompts, Way.SAME_PLACE),
        mean(samples, Way.SAME_PLACE),
        mean(prompts, Way.OTHER_PLACE));
  }

  private static double mean(List<KeysAndValues> texts, Way way) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < texts.size(); i++) {
      KeysAndValues left = texts.get(i);
      KeysAndValues right = way == Way.OTHER_PLACE ? left : texts.get((i + 1) % texts.size());
      int tokens = Math.min(left.tokens(), right.tokens());
      int first = (int) (FIRST * tokens);
      for (int pair = 0; pair < Math.min(PAIRS, tokens - first); pair++) {
        int at = first + pair * (tokens - first) / PAIRS;
        int other =
            way == Way.OTHER_PLACE
                ? first + (at - first + (tokens - first) / 2) % (tokens - first)
                : at;
        for (int layer = 0; layer < left.shape().layers(); layer++) {
          sum += one(left.keysOf(layer, at), right.keysOf(layer, other), way, pair);
          count++;
        }
      }
    }
    return count == 0 ? Double.NaN : sum / count;
  }

  private static double one(float[] x, float[] y, Way way, long seed) {
    return way == Way.SHUFFLED
        ? MutualInformation.ofShuffled(x, y, seed)
        : MutualInformation.of(x, y);
  }
}
