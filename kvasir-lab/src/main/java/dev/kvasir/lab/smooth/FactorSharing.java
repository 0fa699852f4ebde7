package dev.kvasir.lab.smooth;

/** Whose reach a channel's factor comes from. */
public enum FactorSharing {
  /**
   * The channel's own. Keys are divided after their rotation, so nothing else is needed; and where
   * positions are stretched, slow channels reach further than their partners.
   */
  OWN,

  /**
   * The larger one of the two channels that turn together: then it does not matter whether one
   * divides before the rotation or after it, and factors can go into the weights, as in the paper.
   */
  TIED
}
