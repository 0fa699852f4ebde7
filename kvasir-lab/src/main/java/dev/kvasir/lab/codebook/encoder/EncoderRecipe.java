package dev.kvasir.lab.codebook.encoder;

/** The course of a training. */
public enum EncoderRecipe {
  /**
   * Reaches in thousands of steps what the authors' course takes tens of thousands for: codebook
   * rows start small, so that they turn quickly, and noise fades.
   */
  SHORT(5e-3, 0.1f, 0.5f, 0, 0.5),

  /** The authors' course, which they follow for 100,000 steps. */
  PAPER(1e-3, 1, 1, 1, 1);

  private final double rate;
  private final float codebookSize;
  private final float firstNoise;
  private final float lastNoise;
  private final double lastTemperature;

  EncoderRecipe(
      double rate, float codebookSize, float firstNoise, float lastNoise, double lastTemperature) {
    this.rate = rate;
    this.codebookSize = codebookSize;
    this.firstNoise = firstNoise;
    this.lastNoise = lastNoise;
    this.lastTemperature = lastTemperature;
  }

  /** Returns the standard deviation of initial codebook numbers. */
  float codebookSize() {
    return codebookSize;
  }

  /**
   * Returns the learning rate.
   *
   * @param rising 0 to 1 in the first steps
   * @param done 0 to 1 in all steps
   */
  float rate(double rising, double done) {
    return (float) (rate * rising * (1 + StrictMath.cos(Math.PI * done)) / 2);
  }

  /** Returns the factor of Gumbel noise. */
  float noise(double done) {
    return (float) (firstNoise + done * (lastNoise - firstNoise));
  }

  float temperature(double done) {
    return (float) StrictMath.pow(lastTemperature, done);
  }
}
