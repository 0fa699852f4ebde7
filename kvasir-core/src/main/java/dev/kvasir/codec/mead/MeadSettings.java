package dev.kvasir.codec.mead;

import dev.kvasir.codec.SpecText;

/**
 * What a Mead spec says, for caches on other devices.
 *
 * @param window residual window in tokens
 * @param lateSinks tokens per layer that stay unquantized because of the attention they receive
 * @param usesProfile whether tables and bits come from a profile of the model
 * @param usesAttention whether tiers depend on received attention
 * @param requantizes whether old pages are requantized to fewer bits
 */
public record MeadSettings(
    int window,
    int sinks,
    int lateSinks,
    boolean usesProfile,
    boolean usesAttention,
    boolean requantizes) {
  /**
   * @throws dev.kvasir.error.InvalidInputException if the spec is invalid
   */
  public static MeadSettings of(SpecText spec) {
    MeadConfig config = MeadConfig.of(spec);
    return new MeadSettings(
        config.window(),
        config.sinks(),
        config.lateSinks(),
        config.source() == ProfileSource.MODEL,
        config.saliency() == SaliencyMetric.ATTENTION,
        config.isPooled() || config.budget().isPresent());
  }
}
