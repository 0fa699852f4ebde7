package dev.kvasir.lab.codebook.encoder;

import java.util.SplittableRandom;

/**
 * Gumbel noise from a table of 65,536 equally likely numbers. A table gives the same noise on every
 * processor and needs no logarithms; four numbers take one random long.
 */
final class GumbelNoise {
  private static final int BITS = 16;
  private static final float[] TABLE = table();

  private GumbelNoise() {}

  private static float[] table() {
    float[] table = new float[1 << BITS];
    for (int i = 0; i < table.length; i++) {
      table[i] = (float) -StrictMath.log(-StrictMath.log((i + 0.5) / table.length));
    }
    return table;
  }

  /**
   * @param noise set; its length is a multiple of four
   * @param factor of all numbers
   */
  static void fill(SplittableRandom random, float[] noise, float factor) {
    for (int i = 0; i < noise.length; i += 4) {
      long drawn = random.nextLong();
      for (int j = 0; j < 4; j++) {
        noise[i + j] = factor * TABLE[(int) (drawn >>> j * BITS) & 0xFFFF];
      }
    }
  }
}
