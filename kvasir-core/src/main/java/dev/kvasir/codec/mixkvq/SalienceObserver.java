package dev.kvasir.codec.mixkvq;

/** Follows how channels are judged while blocks are sealed: what calibration learns from. */
public interface SalienceObserver {
  /**
   * A block of a layer is about to be divided into tiers.
   *
   * @param steps of codes of two bits // (kvHeads, keyDim)
   * @param salience what the steps became by what queries look at // (kvHeads, keyDim)
   */
  void onSalience(int layer, float[] steps, float[] salience);
}
