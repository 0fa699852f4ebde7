package dev.kvasir.lab.smooth;

/** Which channels determine a smoothing factor. */
public enum FactorSharing {
  /**
   * Each channel has its own factor. Keys are divided after rotation; with scaled positions, slow
   * channels reach larger magnitudes than their partners.
   */
  OWN,

  /**
   * The two channels of a rotary pair share the larger factor. Division then commutes with
   * rotation, so factors can be folded into the weights, as in the paper.
   */
  TIED
}
