package dev.kvasir.contract;

import java.util.Random;
import java.util.SplittableRandom;

/** Normally distributed numbers. */
final class Gaussians {
  private Gaussians() {}

  static float[] of(Random random, int count) {
    SplittableRandom fast = new SplittableRandom(random.nextLong());
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) fast.nextGaussian();
    }
    return floats;
  }
}
