package dev.kvasir.codec.mixkvq;

/** Observes the salience of channels during quantization, for calibration. */
public interface SalienceObserver {
  /**
   * Called before a block of a layer is divided into tiers.
   *
   * @param steps step sizes of 2-bit codes // (kvHeads, keyDim)
   * @param salience the steps, weighted by query magnitudes // (kvHeads, keyDim)
   */
  void onSalience(int layer, float[] steps, float[] salience);
}
