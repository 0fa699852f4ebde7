package dev.kvasir.codec.basis;

import java.util.Random;

/**
 * The orthogonal Walsh-Hadamard transform of a vector, computed by butterflies. Every channel
 * becomes a signed sum of all channels, so no channel is an outlier.
 *
 * <p>If the number of channels is not a power of two, two passes of the largest power of two 2^n
 * are used: the first 2^n channels, then the last 2^n. For 80 channels these are 0 to 63 and 16 to
 * 79. The result is orthogonal, and every channel affects every other; disjoint blocks would
 * confine an outlier to a few channels. Between the passes, half of the channels change signs,
 * because the second transform would otherwise undo most of the first.
 */
public final class Hadamard implements HeadBasis {
  private static final int PLAIN = 1;
  private static final int SIGNED = 2;
  private static final float[] NONE = {};

  private final int channels;
  private final int span; // channels of a pass
  private final float unit; // 1 / sqrt(span)
  private final float[] before; // signs before the first pass (channels), or empty
  private final float[] between; // signs between two passes (channels), or empty
  private final int fingerprint;

  private Hadamard(int channels, float[] before, int seed, int fingerprint) {
    this.channels = channels;
    this.span = Integer.highestOneBit(channels);
    this.unit = (float) (1 / Math.sqrt(span));
    this.before = before;
    this.between = span < channels ? signs(channels, seed) : NONE;
    this.fingerprint = fingerprint;
  }

  /** Returns the transform without random signs. */
  public static Hadamard plain(int channels) {
    return new Hadamard(channels, NONE, 0, PLAIN);
  }

  /** Returns the transform after random sign flips: a random rotation. */
  public static Hadamard signed(int channels, int seed) {
    return new Hadamard(channels, signs(channels, ~seed), seed, SIGNED + 256 * seed);
  }

  private static float[] signs(int channels, int seed) {
    Random random = new Random(seed);
    float[] signs = new float[channels];
    for (int i = 0; i < channels; i++) {
      signs[i] = random.nextBoolean() ? 1 : -1;
    }
    return signs;
  }

  @Override
  public void transform(int kvHead, float[] x, int at, int rows) {
    for (int row = 0; row < rows; row++) {
      int first = at + row * channels;
      flipSigns(before, x, first);
      pass(x, first);
      if (span < channels) {
        flipSigns(between, x, first);
        pass(x, first + channels - span);
      }
    }
  }

  @Override
  public void invert(int kvHead, float[] x, int at, int rows) {
    for (int row = 0; row < rows; row++) {
      int first = at + row * channels;
      if (span < channels) {
        pass(x, first + channels - span);
        flipSigns(between, x, first);
      }
      pass(x, first);
      flipSigns(before, x, first);
    }
  }

  private static void flipSigns(float[] signs, float[] x, int at) {
    for (int i = 0; i < signs.length; i++) {
      x[at + i] *= signs[i];
    }
  }

  /** Transforms {@code span} channels; its own inverse. */
  private void pass(float[] x, int at) {
    for (int half = 1; half < span; half *= 2) {
      for (int first = at; first < at + span; first += 2 * half) {
        for (int i = first; i < first + half; i++) {
          float a = x[i];
          float b = x[i + half];
          x[i] = a + b;
          x[i + half] = a - b;
        }
      }
    }
    for (int i = at; i < at + span; i++) {
      x[i] *= unit;
    }
  }

  @Override
  public int fingerprint() {
    return fingerprint;
  }
}
