package dev.kvasir.contract;

import java.util.Random;

/** Normally distributed numbers. */
final class Gaussians {
  private Gaussians() {}

  static float[] of(Random random, int count) {
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) random.nextGaussian();
    }
    return floats;
  }
}
