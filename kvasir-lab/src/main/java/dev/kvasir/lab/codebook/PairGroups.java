package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;

/**
 * Divides keys in pair order into groups of channel pairs with codes of their own. A stage of the
 * whole key covers one group, and its rows are zero elsewhere, so caches need not know of groups.
 *
 * @param length channels of a vector
 * @param channels channels of a group
 */
record PairGroups(int length, int channels) {
  int count() {
    return length / channels;
  }

  /** Returns the channels of a group, in pair order. */
  TrainingSet part(TrainingSet whole, int group) {
    if (count() == 1) {
      return whole;
    }
    float[] x = new float[whole.count() * channels];
    for (int i = 0; i < whole.count(); i++) {
      copyOut(whole.x(), i * length, group, x, i * channels);
    }
    return new TrainingSet(whole.count(), channels, x);
  }

  /** Copies a group's first channels of pairs, then its second ones. */
  private void copyOut(float[] x, int at, int group, float[] out, int to) {
    int pairs = channels / 2;
    System.arraycopy(x, at + group * pairs, out, to, pairs);
    System.arraycopy(x, at + length / 2 + group * pairs, out, to + pairs, pairs);
  }

  private void copyIn(float[] x, int at, int group, float[] out, int to) {
    int pairs = channels / 2;
    System.arraycopy(x, at, out, to + group * pairs, pairs);
    System.arraycopy(x, at + pairs, out, to + length / 2 + group * pairs, pairs);
  }

  /**
   * Returns stages of whole keys, those of the first group first.
   *
   * @param groups by group (stages, 2, ROWS, channels)
   * @return (count * stages, 2, ROWS, length)
   */
  float[] join(float[][] groups) {
    if (count() == 1) {
      return groups[0];
    }
    int rows = groups[0].length / channels;
    assert rows % (2 * AdditiveStages.ROWS) == 0;
    float[] out = new float[count() * rows * length];
    for (int row = 0; row < count() * rows; row++) {
      int group = row / rows;
      copyIn(groups[group], row % rows * channels, group, out, row * length);
    }
    return out;
  }
}
