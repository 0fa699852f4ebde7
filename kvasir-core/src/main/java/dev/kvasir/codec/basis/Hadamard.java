package dev.kvasir.codec.basis;

import java.util.Random;

/**
 * The orthogonal Walsh-Hadamard transform of a vector, by butterflies: every channel becomes a sum
 * of all of them with signs, so that none stands out.
 *
 * <p>Channels that are no power of two are transformed in two passes, the first 2^n of them and
 * then the last 2^n, with the largest 2^n there is: 80 channels as 0 to 63, then 16 to 79. That is
 * orthogonal too, and reaches every channel from every other, where blocks side by side would keep
 * a large one among few. Between the passes half of the channels change signs, since one transform
 * would take back most of the other.
 */
public final class Hadamard implements HeadBasis {
  private static final int PLAIN = 1;
  private static final int SIGNED = 2;
  private static final float[] NONE = {};

  private final int channels;
  private final int span; // of a pass
  private final float unit; // 1 / sqrt(span)
  private final float[] before; // signs of (channels), empty without
  private final float[] between; // the same between two passes
  private final int fingerprint;

  private Hadamard(int channels, float[] before, int seed, int fingerprint) {
    this.channels = channels;
    this.span = Integer.highestOneBit(channels);
    this.unit = (float) (1 / Math.sqrt(span));
    this.before = before;
    this.between = span < channels ? signs(channels, seed) : NONE;
    this.fingerprint = fingerprint;
  }

  /** The same for everyone. */
  public static Hadamard plain(int channels) {
    return new Hadamard(channels, NONE, 0, PLAIN);
  }

  /** After signs that a seed draws: a random rotation, as far as coordinates can tell. */
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

  /** Its own inverse. */
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
