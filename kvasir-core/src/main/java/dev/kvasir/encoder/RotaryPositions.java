package dev.kvasir.encoder;

/**
 * Rotates channel {@code i} of a head together with channel {@code i + size / 2} by the angle
 * {@code position * base^(-2i / size)}.
 */
final class RotaryPositions {
  private final int half;
  private final float[] cosines; // (positions, half)
  private final float[] sines; // (positions, half)

  RotaryPositions(int positions, int headSize, double base) {
    this.half = headSize / 2;
    this.cosines = new float[positions * half];
    this.sines = new float[positions * half];
    for (int position = 0; position < positions; position++) {
      for (int i = 0; i < half; i++) {
        double angle = position * Math.pow(base, -2.0 * i / headSize);
        cosines[position * half + i] = (float) Math.cos(angle);
        sines[position * half + i] = (float) Math.sin(angle);
      }
    }
  }

  /** Rotates the head that begins at {@code at}. */
  void rotate(float[] heads, int at, int position) {
    for (int i = 0; i < half; i++) {
      float first = heads[at + i];
      float second = heads[at + half + i];
      float cosine = cosines[position * half + i];
      float sine = sines[position * half + i];
      heads[at + i] = first * cosine - second * sine;
      heads[at + half + i] = first * sine + second * cosine;
    }
  }
}
