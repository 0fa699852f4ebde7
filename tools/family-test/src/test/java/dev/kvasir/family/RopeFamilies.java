package dev.kvasir.family;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Families with RoPE scaling for long contexts, in all forms that files use. */
final class RopeFamilies {
  private RopeFamilies() {}

  /** YaRN without a magnitude, and queries that grow every 16 positions. */
  static FamilyModel mistral3(String name) {
    FamilyModel model = new FamilyModel(name, "mistral3", "ministral3", FamilySizes.WIDE);
    model.headDim(model.sizes().headDim());
    model.putMetadata("rope.dimension_count", model.sizes().headDim());
    model.ropeBase(DenseFamilies.ROPE_BASE);
    JsonObject scaling = YarnScaling.stretch(model);
    model.putMetadata("rope.scaling.original_context_length", 16);
    scaling.addProperty("original_max_position_embeddings", 16);
    model.putMetadata("rope.scaling.yarn_log_multiplier", 1f);
    scaling.addProperty("mscale", 1);
    scaling.addProperty("mscale_all_dim", 1);
    model.putMetadata("attention.temperature_scale", 0.4f);
    scaling.addProperty("llama_4_scaling_beta", 0.4f);
    model.json().remove("rope_scaling");
    scaling.addProperty("rope_theta", DenseFamilies.ROPE_BASE);
    model.json().add("rope_parameters", scaling);
    DenseFamilies.neighbouringLayers(model);
    model.ends();
    return model;
  }

  static FamilyModel llamaWithYarn(String name) {
    FamilyModel model = DenseFamilies.llama(name);
    YarnScaling.stretch(model);
    return model;
  }

  static FamilyModel qwen2WithYarn(String name) {
    FamilyModel model = DenseFamilies.qwen2(name);
    YarnScaling.stretch(model);
    return model;
  }

  /** Three local layers without scaling and a global one with it. */
  static FamilyModel olmo3(String name) {
    FamilyModel model = DenseFamilies.olmo2(name);
    model.json().addProperty("model_type", "olmo3");
    YarnScaling.stretch(model);
    int window = 16;
    model.putMetadata("attention.sliding_window", window);
    model.json("sliding_window", window);
    JsonArray types = new JsonArray();
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      types.add(layer % 4 == 3 ? "full_attention" : "sliding_attention");
    }
    model.json().add("layer_types", types);
    return model;
  }

  /** The folder states the rule, and the GGUF file has the resulting factors. */
  static FamilyModel llama3(String name) {
    FamilyModel model = DenseFamilies.llama(name);
    double factor = 8;
    double context = 64;
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "llama3");
    scaling.addProperty("factor", factor);
    scaling.addProperty("low_freq_factor", 1);
    scaling.addProperty("high_freq_factor", 4);
    scaling.addProperty("original_max_position_embeddings", context);
    model.json().add("rope_scaling", scaling);
    int dim = model.sizes().headDim();
    float[] divisors = new float[dim / 2];
    for (int i = 0; i < divisors.length; i++) {
      double rotations = context / (2 * Math.PI * Math.pow(DenseFamilies.ROPE_BASE, 2.0 * i / dim));
      double unscaled = Math.clamp((rotations - 1) / (4 - 1), 0, 1);
      divisors[i] = (float) (1 / (unscaled + (1 - unscaled) / factor));
    }
    model.gguf("rope_freqs.weight", new TensorValues(divisors, divisors.length));
    return model;
  }

  /** LongRoPE with a sequence limit within the original context. */
  static FamilyModel phi3Short(String name) {
    FamilyModel model = DenseFamilies.phi3(name);
    longRope(model, 2 * FamilyGolden.CONTEXT_LIMIT, model.sizes().headDim());
    return model;
  }

  /**
   * LongRoPE beyond the original context, with heads that rotate three quarters of their channels.
   */
  static FamilyModel phi3Long(String name) {
    FamilyModel model = DenseFamilies.phi3(name);
    int rotated = model.sizes().headDim() * 3 / 4;
    model.putMetadata("rope.dimension_count", rotated);
    model.json("partial_rotary_factor", 0.75);
    longRope(model, 32, rotated);
    return model;
  }

  private static void longRope(FamilyModel model, int original, int rotated) {
    model.putMetadata("rope.scaling.original_context_length", original);
    model.json("original_max_position_embeddings", original);
    double stretch = (double) FamilyModel.CONTEXT / original;
    model.putMetadata(
        "rope.scaling.attn_factor", (float) Math.sqrt(1 + Math.log(stretch) / Math.log(original)));
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "longrope");
    scaling.add("short_factor", factors(model, "rope_factors_short", 1.25, 0.1, rotated / 2));
    scaling.add("long_factor", factors(model, "rope_factors_long", 4, 1, rotated / 2));
    model.json().add("rope_scaling", scaling);
  }

  private static JsonArray factors(
      FamilyModel model, String tensor, double middle, double spread, int pairs) {
    TensorValues values = model.random(tensor, middle, spread, pairs);
    model.gguf(tensor + ".weight", values);
    JsonArray numbers = new JsonArray();
    for (float value : values.floats()) {
      numbers.add(value);
    }
    return numbers;
  }
}
