package dev.kvasir.lab.codebook.encoder;

/**
 * AdamW (Loshchilov and Hutter, 2019) with the authors' settings: weight decay 0.1, betas 0.9 and
 * 0.95.
 */
final class AdamW {
  private static final float DECAY = 0.1f;
  private static final float BETA1 = 0.9f;
  private static final float BETA2 = 0.95f;
  private static final float EPSILON = 1e-8f;

  private final float[] first;
  private final float[] second;
  private double firstPower = 1;
  private double secondPower = 1;

  AdamW(int count) {
    this.first = new float[count];
    this.second = new float[count];
  }

  /** Moves parameters against their gradient. */
  void step(float[] parameters, float[] gradient, float rate) {
    firstPower *= BETA1;
    secondPower *= BETA2;
    float ofFirst = (float) (rate / (1 - firstPower));
    float ofSecond = (float) (1 / (1 - secondPower));
    float kept = 1 - rate * DECAY;
    for (int i = 0; i < parameters.length; i++) {
      float slope = gradient[i];
      float mean = BETA1 * first[i] + (1 - BETA1) * slope;
      float square = BETA2 * second[i] + (1 - BETA2) * slope * slope;
      first[i] = mean;
      second[i] = square;
      float size = (float) Math.sqrt(square * ofSecond) + EPSILON;
      parameters[i] = parameters[i] * kept - ofFirst * mean / size;
    }
  }
}
