package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * The layers that engines on devices compute: multi-head attention and a gated feed-forward part or
 * routed experts, with a shared one or none. Unlike {@link ModelConfig#requirePlain}, it admits
 * scales, soft caps, windows, post-norms and several RoPEs.
 */
public final class StandardLayers {
  /** Best scores whose sum ranks a group of experts; no family has more. */
  private static final int MAX_SCORES_PER_GROUP = 2;

  private StandardLayers() {}

  /**
   * Fails for a decoder with other layers, in one sentence that names what is missing.
   *
   * @param who the caller, for the error message
   */
  public static void require(ModelConfig config, String who) {
    requireStandardParts(config, who);
    requireStandardAttention(config, who);
    ArchitectureTraits traits = config.architecture().traits();
    Activation activation = traits.activation();
    if (traits.isUngated() || activation != Activation.SILU && activation != Activation.GELU) {
      throw refused(
          config,
          who,
          "feed-forward layers gated by SiLU or GELU; this is a %s model"
              .formatted(family(config)));
    }
  }

  private static void requireStandardParts(ModelConfig config, String who) {
    if (config.experts().isPresent() && !isStandard(config.experts().get(), config)) {
      throw refused(
          config,
          who,
          "experts gated by SiLU alone in their layer; this is a %s model"
              .formatted(family(config)));
    }
    if (config.latent().isPresent()) {
      throw refused(
          config,
          who,
          "multi-head attention; this is a %s model, which uses latent attention"
              .formatted(family(config)));
    }
    if (config.recurrent().isPresent()) {
      throw refused(
          config,
          who,
          "attention in every layer; this is a %s model with %d recurrent layers"
              .formatted(family(config), config.recurrent().get().count()));
    }
    if (config.perLayer().isPresent()) {
      throw refused(
          config,
          who,
          "layers of one size; this is a %s model, whose layers differ".formatted(family(config)));
    }
  }

  private static void requireStandardAttention(ModelConfig config, String who) {
    ArchitectureTraits traits = config.architecture().traits();
    if (traits.hasGatedQueries() || traits.hasNormalizedValues()) {
      throw refused(
          config,
          who,
          "attention without gates and norms of values; this is a %s model"
              .formatted(family(config)));
    }
  }

  private static boolean isStandard(ExpertConfig experts, ModelConfig config) {
    return (experts.activation() == Activation.SILU
            || experts.activation() == Activation.BOUNDED_SILU)
        && experts.latent() == 0
        && experts.routing().groups().scoresPerGroup() <= MAX_SCORES_PER_GROUP
        && !config.architecture().traits().hasDenseBesideExperts();
  }

  private static String family(ModelConfig config) {
    return config.architecture().identifier();
  }

  private static InvalidInputException refused(ModelConfig config, String who, String what) {
    return new InvalidInputException("%s: %s requires %s".formatted(config.name(), who, what));
  }
}
