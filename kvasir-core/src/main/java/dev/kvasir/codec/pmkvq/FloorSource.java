package dev.kvasir.codec.pmkvq;

/** Where the minimum bits of each layer come from. */
public enum FloorSource {
  /** The same bits in all layers. */
  SAME,

  /** The bits that calibration chose for a mean of its own, from the profile. */
  PROFILE,

  /** Solved for the byte budget when a cache is opened, from the profile's sensitivities. */
  BUDGET
}
