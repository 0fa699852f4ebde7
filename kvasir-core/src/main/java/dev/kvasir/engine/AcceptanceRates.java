package dev.kvasir.engine;

/**
 * How often proposed tokens were the right ones, by classes of how certain they seemed. A class
 * starts with a usual rate and soon follows what is observed.
 */
public final class AcceptanceRates {
  /** The usual rate counts as this many observations. */
  private static final int USUAL_WEIGHT = 4;

  /** Observations that are remembered, so that a change within a text is noticed. */
  private static final int MEMORY = 24;

  private final double[] rates;
  private final int[] observations;

  /**
   * @param usual usual rates by class
   */
  public AcceptanceRates(double... usual) {
    this.rates = usual.clone();
    this.observations = new int[usual.length];
  }

  public void record(int kind, boolean right) {
    observations[kind] = Math.min(MEMORY, observations[kind] + 1);
    rates[kind] += ((right ? 1 : 0) - rates[kind]) / (USUAL_WEIGHT + observations[kind]);
  }

  public double rate(int kind) {
    return rates[kind];
  }
}
