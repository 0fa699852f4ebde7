package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Outlier channels that do not change what a model computes: some channel pairs of keys are
 * multiplied by a factor, and those of the queries that meet them are divided by it. A pair is what
 * RoPE rotates together, so the factor commutes with it. Products of queries and keys stay the
 * same; for a power of two they do so to the last bit.
 *
 * @param pairs channel pairs of each KV head that become outliers
 * @param factor factor of their keys
 * @param seed decides which pairs of a layer and head they are
 */
public record KeyOutliers(int pairs, float factor, long seed) {
  private static final float MAX_FACTOR = 4096;

  public KeyOutliers {
    if (pairs < 1 || !(factor >= 1 && factor <= MAX_FACTOR)) {
      throw new InvalidInputException(
          "outliers are %d pairs with a factor of %s; expected at least 1 pair and 1 to %.0f"
              .formatted(pairs, factor, MAX_FACTOR));
    }
  }

  /** Parses pairs and factor, such as {@code 4:16}. */
  public static KeyOutliers parse(String text, long seed) {
    String[] parts = text.split(":", -1);
    try {
      if (parts.length == 2) {
        return new KeyOutliers(Integer.parseInt(parts[0]), Float.parseFloat(parts[1]), seed);
      }
    } catch (NumberFormatException e) {
      throw malformed(text, e);
    }
    throw malformed(text, null);
  }

  private static InvalidInputException malformed(String text, Exception cause) {
    return new InvalidInputException(
        "outliers are '%s'; expected PAIRS:FACTOR, such as 4:16".formatted(text), cause);
  }

  /** Returns the text that {@link #parse} reads, and the seed. */
  @Override
  public String toString() {
    return "%d:%s seed %d".formatted(pairs, factor, seed);
  }

  /** Rejects a model whose keys it cannot scale. */
  void requirePossible(ModelConfig config) {
    if (config.latent().isPresent()) {
      throw new InvalidInputException(
          "%s: has latent attention, whose keys are also its values; outliers need keys of their own"
              .formatted(config.name()));
    }
    for (int layer = 0; layer < config.layers(); layer++) {
      int most = pairOrder(config, layer).length / 2;
      if (pairs > most) {
        throw new InvalidInputException(
            "outliers are %d pairs; %s has %d in a head".formatted(pairs, config.name(), most));
      }
    }
  }

  /**
   * Returns the factors of a layer's keys.
   *
   * @return (kvHeads, keyDim)
   */
  float[] keyFactors(ModelConfig config, int layer) {
    int[] order = pairOrder(config, layer);
    int count = order.length / 2;
    float[] factors = new float[config.kvHeads() * config.keyDim()];
    Arrays.fill(factors, 1);
    RandomGenerator random =
        RandomGeneratorFactory.of("L64X128MixRandom").create(seed * 0x9E3779B97F4A7C15L + layer);
    for (int head = 0; head < config.kvHeads(); head++) {
      int[] shuffled = new int[count];
      Arrays.setAll(shuffled, i -> i);
      for (int i = 0; i < pairs; i++) {
        int other = i + random.nextInt(count - i);
        int pair = shuffled[other];
        shuffled[other] = shuffled[i];
        factors[head * config.keyDim() + order[pair]] = factor;
        factors[head * config.keyDim() + order[count + pair]] = factor;
      }
    }
    return factors;
  }

  /** Returns the first channels of a head's pairs, then the second ones; rotary pairs only. */
  private static int[] pairOrder(ModelConfig config, int layer) {
    int kind = config.ropes().of(layer);
    if (kind == RopePattern.NONE) {
      int count = config.keyDim() / 2;
      int[] order = new int[2 * count];
      Arrays.setAll(order, i -> i < count ? 2 * i : 2 * (i - count) + 1);
      return order;
    }
    ModelConfig.RopeSettings rope = config.ropes().kinds().get(kind);
    int count = rope.dimensions() / 2;
    int[] order = new int[2 * count];
    for (int pair = 0; pair < count; pair++) {
      order[pair] = rope.layout().first(pair, count);
      order[count + pair] = rope.layout().second(pair, count);
    }
    return order;
  }
}
