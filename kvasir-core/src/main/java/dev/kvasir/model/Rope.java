package dev.kvasir.model;

/** Rotary position embedding of a model: which channels turn together, and by how much. */
public final class Rope {
  private final RopeLayout layout;
  private final float[] frequencies;

  public Rope(RopeLayout layout, float[] frequencies) {
    this.layout = layout;
    this.frequencies = frequencies.clone();
  }

  /** Pairs of channels that turn. */
  public int pairs() {
    return frequencies.length;
  }

  public RopeLayout layout() {
    return layout;
  }

  /** Cosines and sines of a position's angles, worked out once for all heads and layers. */
  void angles(int position, float[] cosines, float[] sines, int at) {
    for (int i = 0; i < frequencies.length; i++) {
      // A float product, as in the reference implementations that models are trained with.
      float angle = position * frequencies[i];
      cosines[at + i] = (float) Math.cos(angle);
      sines[at + i] = (float) Math.sin(angle);
    }
  }

  /** Rotates {@code heads} consecutive heads of {@code headDim} channels. */
  void rotate(
      float[] x, int at, int heads, int headDim, float[] cosines, float[] sines, int anglesAt) {
    for (int head = 0; head < heads; head++) {
      layout.rotate(x, at + head * headDim, frequencies.length, cosines, sines, anglesAt);
    }
  }
}
