package dev.kvasir.model;

import dev.kvasir.format.GgufMetadata;

/** Reads the scale factors and caps of a decoder from a GGUF file's metadata. */
final class GgufScales {
  private static final double GEMMA2_SCORE_CAP = 50;
  private static final double GEMMA2_LOGIT_CAP = 30;

  /** Layer counts that identify the models whose query scale is not derived from the head size. */
  private static final int GEMMA2_27B_LAYERS = 46;

  private static final int GEMMA3_27B_LAYERS = 62;

  private final GgufMetadata metadata;
  private final Architecture architecture;

  private GgufScales(GgufMetadata metadata, Architecture architecture) {
    this.metadata = metadata;
    this.architecture = architecture;
  }

  static Scales read(
      GgufMetadata metadata,
      Architecture architecture,
      int layers,
      int hidden,
      int queryHeads,
      int keyDim) {
    GgufScales scales = new GgufScales(metadata, architecture);
    return switch (architecture) {
      case GEMMA2, GEMMA3 -> {
        int wideLayers =
            architecture == Architecture.GEMMA2 ? GEMMA2_27B_LAYERS : GEMMA3_27B_LAYERS;
        int share = hidden / Math.max(1, queryHeads);
        yield scales.gemma(hidden, layers == wideLayers ? keyDim / (double) share : 1);
      }
      case GEMMA4 -> scales.gemma(hidden, 1);
      case GRANITE, GRANITE_HYBRID -> scales.granite(keyDim);
      default -> Scales.NONE;
    };
  }

  /**
   * @param channels head size divided by the number whose root divides queries
   */
  private Scales gemma(int hidden, double channels) {
    boolean caps = architecture == Architecture.GEMMA2;
    return new Scales(
        (float) Math.sqrt(hidden),
        (float) Math.sqrt(channels),
        1,
        1,
        (float) number("attn_logit_softcapping", caps ? GEMMA2_SCORE_CAP : 0),
        (float) number("final_logit_softcapping", caps ? GEMMA2_LOGIT_CAP : 0));
  }

  /** Reads Granite's factors, where zero means absent. */
  private Scales granite(int keyDim) {
    double attention = number("attention.scale", 0);
    return new Scales(
        (float) factor("embedding_scale"),
        (float) (attention == 0 ? 1 : attention * Math.sqrt(keyDim)),
        (float) factor("residual_scale"),
        (float) (1 / number("logit_scale", 1)),
        0,
        0);
  }

  private double factor(String suffix) {
    double found = number(suffix, 0);
    return found == 0 ? 1 : found;
  }

  private double number(String suffix, double fallback) {
    return metadata.number(architecture.identifier() + "." + suffix).orElse(fallback);
  }
}
