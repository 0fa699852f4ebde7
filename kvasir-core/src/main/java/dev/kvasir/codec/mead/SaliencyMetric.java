package dev.kvasir.codec.mead;

/** How tokens are ranked for saliency tiers, as typed in {@code classes=}. */
public enum SaliencyMetric {
  /** By residual energy and received attention. */
  ATTENTION,

  /** By residual energy only. */
  ENERGY
}
