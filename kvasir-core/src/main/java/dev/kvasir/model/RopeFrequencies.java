package dev.kvasir.model;

import java.util.stream.IntStream;

/**
 * The angle that a position adds to each pair of channels, after the stretching that long-context
 * models apply.
 */
public sealed interface RopeFrequencies {
  /** {@code base ^ (-2 i / dimensions)}. */
  static float[] plain(double base, int dimensions) {
    float[] frequencies = new float[dimensions / 2];
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] = (float) (1 / Math.pow(base, 2.0 * i / dimensions));
    }
    return frequencies;
  }

  float[] of(double base, int dimensions);

  /** The numbers of the rule that no rule has at or below zero. */
  double[] positives();

  /** No stretching. */
  record Plain() implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      return plain(base, dimensions);
    }

    @Override
    public double[] positives() {
      return new double[0];
    }
  }

  /** Every angle divided by the same factor. */
  record Linear(double factor) implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = plain(base, dimensions);
      for (int i = 0; i < frequencies.length; i++) {
        frequencies[i] /= (float) factor;
      }
      return frequencies;
    }

    @Override
    public double[] positives() {
      return new double[] {factor};
    }
  }

  /** Each angle divided by a factor of its own, as GGUF files carry Llama 3.1's rule worked out. */
  record Divided(float[] factors) implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = plain(base, dimensions);
      if (factors.length != frequencies.length) {
        throw new IllegalArgumentException(
            "%d factors for %d frequencies".formatted(factors.length, frequencies.length));
      }
      for (int i = 0; i < frequencies.length; i++) {
        frequencies[i] /= factors[i];
      }
      return frequencies;
    }

    @Override
    public double[] positives() {
      return IntStream.range(0, factors.length).mapToDouble(i -> factors[i]).toArray();
    }
  }

  /**
   * Llama 3.1's rule: slow pairs, which turn less than {@code lowFactor} times within the original
   * context, are stretched by {@code factor}; fast ones, more than {@code highFactor} times, are
   * left alone; those between are blended.
   */
  record Llama3(double factor, double lowFactor, double highFactor, double originalContext)
      implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = plain(base, dimensions);
      for (int i = 0; i < frequencies.length; i++) {
        double turns = originalContext * frequencies[i] / (2 * Math.PI);
        double keep = Math.clamp((turns - lowFactor) / (highFactor - lowFactor), 0, 1);
        frequencies[i] = (float) (frequencies[i] * (keep + (1 - keep) / factor));
      }
      return frequencies;
    }

    @Override
    public double[] positives() {
      return new double[] {factor, lowFactor, highFactor, highFactor - lowFactor, originalContext};
    }
  }
}
