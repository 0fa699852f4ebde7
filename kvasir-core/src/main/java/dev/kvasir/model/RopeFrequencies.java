package dev.kvasir.model;

import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * The angle that a position adds to each pair of channels, after the stretching that long-context
 * models apply.
 */
public sealed interface RopeFrequencies {
  /** {@code base ^ (-2 i / dimensions)}. */
  static float[] unscaled(double base, int dimensions) {
    float[] frequencies = new float[dimensions / 2];
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] = (float) (1 / Math.pow(base, 2.0 * i / dimensions));
    }
    return frequencies;
  }

  float[] of(double base, int dimensions);

  /** The numbers of the rule that no rule has at or below zero. */
  double[] positiveParameters();

  /** No stretching. */
  record Unscaled() implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      return unscaled(base, dimensions);
    }

    @Override
    public double[] positiveParameters() {
      return new double[0];
    }
  }

  /** Every angle divided by the same factor. */
  record Linear(double factor) implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = unscaled(base, dimensions);
      for (int i = 0; i < frequencies.length; i++) {
        frequencies[i] /= (float) factor;
      }
      return frequencies;
    }

    @Override
    public double[] positiveParameters() {
      return new double[] {factor};
    }
  }

  /** Each angle divided by a factor of its own, as GGUF files carry Llama 3.1's rule worked out. */
  record PerPairFactors(float[] factors) implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = unscaled(base, dimensions);
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
    public double[] positiveParameters() {
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
      float[] frequencies = unscaled(base, dimensions);
      for (int i = 0; i < frequencies.length; i++) {
        double turns = originalContext * frequencies[i] / (2 * Math.PI);
        double keep = Math.clamp((turns - lowFactor) / (highFactor - lowFactor), 0, 1);
        frequencies[i] = (float) (frequencies[i] * (keep + (1 - keep) / factor));
      }
      return frequencies;
    }

    @Override
    public double[] positiveParameters() {
      return new double[] {factor, lowFactor, highFactor, highFactor - lowFactor, originalContext};
    }
  }

  /**
   * YaRN: pairs that turn more than {@code fastTurns} times within the original context are left
   * alone, those that turn less than {@code slowTurns} times are stretched by {@code factor}, and
   * those between are blended by their place.
   *
   * @param whole whether the first and the last place to be blended are rounded outwards
   */
  record Yarn(
      double factor, double originalContext, double betaFast, double betaSlow, boolean truncate)
      implements RopeFrequencies {
    /** What the published models and GGUF files take for granted. */
    public static final double DEFAULT_BETA_FAST = 32;

    public static final double DEFAULT_BETA_SLOW = 1;

    /** How much longer queries and keys become together with their stretching. */
    static double magnitude(double factor) {
      return magnitude(factor, 1);
    }

    static double magnitude(double factor, double multiplier) {
      return factor <= 1 ? 1 : 0.1 * multiplier * Math.log(factor) + 1;
    }

    @Override
    public float[] of(double base, int dimensions) {
      double first = pairAt(betaFast, base, dimensions);
      double last = pairAt(betaSlow, base, dimensions);
      double low = Math.max(0, truncate ? Math.floor(first) : first);
      double high = Math.min(dimensions - 1, truncate ? Math.ceil(last) : last);
      float[] frequencies = unscaled(base, dimensions);
      for (int i = 0; i < frequencies.length; i++) {
        double stretched = Math.clamp((i - low) / Math.max(0.001, high - low), 0, 1);
        frequencies[i] = (float) (frequencies[i] * (1 - stretched + stretched / factor));
      }
      return frequencies;
    }

    /** The pair that turns so many times within the original context. */
    private double pairAt(double turns, double base, int dimensions) {
      double length = originalContext / (turns * 2 * Math.PI);
      return dimensions * Math.log(length) / (2 * Math.log(base));
    }

    @Override
    public double[] positiveParameters() {
      return new double[] {factor, originalContext, betaFast, betaSlow};
    }
  }

  /**
   * LongRoPE: each angle divided by a factor of its own, which are others for a model that is used
   * beyond its original context. Keys of both cannot be mixed, so it is one of them for all texts.
   *
   * @param context tokens that the model is used for
   */
  record LongRope(float[] shortFactors, float[] longFactors, int originalContext, int context)
      implements RopeFrequencies {
    /** The factors that hold. */
    public float[] factors() {
      return usesLongFactors() ? longFactors : shortFactors;
    }

    public boolean usesLongFactors() {
      return context > originalContext;
    }

    LongRope withContextLength(int tokens) {
      return new LongRope(shortFactors, longFactors, originalContext, tokens);
    }

    @Override
    public float[] of(double base, int dimensions) {
      return new PerPairFactors(factors()).of(base, dimensions);
    }

    @Override
    public double[] positiveParameters() {
      return DoubleStream.concat(
              Arrays.stream(new PerPairFactors(shortFactors).positiveParameters()),
              Arrays.stream(new PerPairFactors(longFactors).positiveParameters()))
          .toArray();
    }
  }
}
