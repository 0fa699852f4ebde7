package dev.kvasir.model;

import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * The angle that a position adds to each channel pair, after the scaling of long-context models.
 */
public sealed interface RopeFrequencies {
  /** Returns {@code base ^ (-2 i / dimensions)}. */
  static float[] unscaled(double base, int dimensions) {
    float[] frequencies = new float[dimensions / 2];
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] = (float) (1 / Math.pow(base, 2.0 * i / dimensions));
    }
    return frequencies;
  }

  float[] of(double base, int dimensions);

  /** Returns the parameters that must be positive. */
  double[] positiveParameters();

  /** No scaling. */
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

  /** No rotation of any but the first pairs, whose frequencies are those of all channels. */
  record Proportional(int rotaryPairs) implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = unscaled(base, dimensions);
      Arrays.fill(frequencies, Math.min(rotaryPairs, frequencies.length), frequencies.length, 0);
      return frequencies;
    }

    @Override
    public double[] positiveParameters() {
      return new double[] {rotaryPairs};
    }
  }

  /** All frequencies divided by one factor. */
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

  /** Each frequency divided by its own factor, as GGUF files store Llama 3.1's rule precomputed. */
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
   * Llama 3.1's rule. Slow pairs, with fewer than {@code lowFactor} periods within the original
   * context, are divided by {@code factor}. Fast ones, with more than {@code highFactor}, are
   * unchanged. Those between are interpolated.
   */
  record Llama3(double factor, double lowFactor, double highFactor, double originalContext)
      implements RopeFrequencies {
    @Override
    public float[] of(double base, int dimensions) {
      float[] frequencies = unscaled(base, dimensions);
      for (int i = 0; i < frequencies.length; i++) {
        double periods = originalContext * frequencies[i] / (2 * Math.PI);
        double keep = Math.clamp((periods - lowFactor) / (highFactor - lowFactor), 0, 1);
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
   * YaRN. Pairs with more than {@code betaFast} periods within the original context are unchanged.
   * Those with fewer than {@code betaSlow} are divided by {@code factor}. Those between are
   * interpolated by their index.
   *
   * @param truncate whether the bounds of the interpolated range are rounded outwards
   */
  record Yarn(
      double factor, double originalContext, double betaFast, double betaSlow, boolean truncate)
      implements RopeFrequencies {
    /** Default of published models and GGUF files. */
    public static final double DEFAULT_BETA_FAST = 32;

    public static final double DEFAULT_BETA_SLOW = 1;

    /** Returns the attention factor by which queries and keys are scaled. */
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
        double scaledFraction = Math.clamp((i - low) / Math.max(0.001, high - low), 0, 1);
        frequencies[i] = (float) (frequencies[i] * (1 - scaledFraction + scaledFraction / factor));
      }
      return frequencies;
    }

    /** Returns the index of the pair with that many periods within the original context. */
    private double pairAt(double periods, double base, int dimensions) {
      double length = originalContext / (periods * 2 * Math.PI);
      return dimensions * Math.log(length) / (2 * Math.log(base));
    }

    @Override
    public double[] positiveParameters() {
      return new double[] {factor, originalContext, betaFast, betaSlow};
    }
  }

  /**
   * LongRoPE: each frequency divided by its own factor, with other factors beyond the original
   * context. Keys of both cannot be combined, so one set applies to all texts.
   *
   * @param context tokens that the model is used for
   */
  record LongRope(float[] shortFactors, float[] longFactors, int originalContext, int context)
      implements RopeFrequencies {
    /** Returns the factors that apply. */
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
