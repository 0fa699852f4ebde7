package dev.kvasir.cuda.formats.mead;

import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.RopeTable;

/**
 * How pairs of channels rotate within a block, relative to its token 64. A pair of low frequency
 * has a nearly constant cosine and a sine nearly proportional to the distance from that token,
 * which attention makes use of.
 *
 * @param cosines mean cosine of each pair
 * @param sines sine of each pair at a distance of 64 tokens, by least squares
 * @param errors root of the mean squared error of both
 */
record LinearRotations(float[] cosines, float[] sines, float[] errors) {
  /** Token whose rotation is none. */
  static final int MIDDLE = Fp16Page.TOKENS;

  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  /** Root of the mean squared error of a pair; quantization at two bits leaves a third. */
  private static final float MAX_ERROR = 0.02f;

  static LinearRotations of(RopeTable rope, int headDim) {
    int pairs = headDim / 2;
    float[] cosines = new float[pairs];
    float[] sines = new float[pairs];
    float[] errors = new float[pairs];
    for (int pair = 0; pair < pairs; pair++) {
      double cosine = 0;
      double sine = 0;
      double squares = 0;
      for (int token = 0; token < BLOCK; token++) {
        double distance = (double) (token - MIDDLE) / MIDDLE;
        cosine += cosine(rope, token, pair) / BLOCK;
        sine += distance * sine(rope, token, pair);
        squares += distance * distance;
      }
      sine /= squares;
      double error = 0;
      for (int token = 0; token < BLOCK; token++) {
        double distance = (double) (token - MIDDLE) / MIDDLE;
        double ofCosine = cosine(rope, token, pair) - cosine;
        double ofSine = sine(rope, token, pair) - sine * distance;
        error += (ofCosine * ofCosine + ofSine * ofSine) / BLOCK;
      }
      cosines[pair] = (float) cosine;
      sines[pair] = (float) sine;
      errors[pair] = (float) Math.sqrt(error);
    }
    return new LinearRotations(cosines, sines, errors);
  }

  /** Returns the cosine of a token's rotation relative to the middle. */
  static float cosine(RopeTable rope, int token, int pair) {
    return rope.cosines()[Math.abs(token - MIDDLE) * rope.pairs() + pair];
  }

  static float sine(RopeTable rope, int token, int pair) {
    float sine = rope.sines()[Math.abs(token - MIDDLE) * rope.pairs() + pair];
    return token < MIDDLE ? -sine : sine;
  }

  boolean isLinear(int pair) {
    return errors[pair] <= MAX_ERROR;
  }

  /** Returns the number of pairs that are not. */
  int rotatedPairs() {
    int count = 0;
    for (int pair = 0; pair < errors.length; pair++) {
      count += isLinear(pair) ? 0 : 1;
    }
    return count;
  }
}
