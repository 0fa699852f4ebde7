package dev.kvasir.model;

import dev.kvasir.format.JsonFile;

/** Reads the scale factors and caps of a decoder from a {@code config.json}. */
final class HuggingFaceScales {
  private HuggingFaceScales() {}

  static Scales read(JsonFile json, Architecture architecture, int hidden, int headDim) {
    return switch (architecture) {
      case GEMMA2, GEMMA3 ->
          new Scales(
              (float) Math.sqrt(hidden),
              (float) Math.sqrt(headDim / number(json, "query_pre_attn_scalar", headDim)),
              1,
              1,
              (float) number(json, "attn_logit_softcapping", 0),
              (float) number(json, "final_logit_softcapping", 0));
      case GRANITE ->
          new Scales(
              (float) number(json, "embedding_multiplier", 1),
              (float) (number(json, "attention_multiplier", 1) * Math.sqrt(headDim)),
              (float) number(json, "residual_multiplier", 1),
              (float) (1 / number(json, "logits_scaling", 1)),
              0,
              0);
      default -> Scales.NONE;
    };
  }

  private static double number(JsonFile json, String key, double fallback) {
    return json.number(key).orElse(fallback);
  }
}
