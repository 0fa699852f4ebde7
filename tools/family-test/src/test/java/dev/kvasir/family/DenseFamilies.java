package dev.kvasir.family;

import com.google.gson.JsonArray;

/** Families with one feed-forward part in each layer. */
final class DenseFamilies {
  private DenseFamilies() {}

  static FamilyModel llama(String name) {
    return llama(name, "llama", Sizes.WIDE);
  }

  private static FamilyModel llama(String name, String modelType, Sizes sizes) {
    FamilyModel model = new FamilyModel(name, "llama", modelType, sizes);
    model.headDim(sizes.headDim());
    model.say("rope.dimension_count", sizes.headDim());
    model.ropeBase(1000);
    neighbouringLayers(model);
    model.ends();
    return model;
  }

  static void neighbouringLayers(FamilyModel model) {
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      Parts parts = new Parts(model, layer);
      parts.normsBefore();
      parts.neighbouringAttention();
      parts.feedForward();
    }
  }

  static FamilyModel qwen2(String name) {
    FamilyModel model = new FamilyModel(name, "qwen2", "qwen2", Sizes.SQUARE);
    model.ropeBase(1000);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      Parts parts = new Parts(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.attentionBiases();
      parts.feedForward();
    }
    model.ends();
    return model;
  }

  static FamilyModel qwen3(String name) {
    FamilyModel model = new FamilyModel(name, "qwen3", "qwen3", Sizes.WIDE);
    model.headDim(model.sizes().headDim());
    model.ropeBase(1000);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      Parts parts = new Parts(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.queryNorms(model.sizes().headDim(), model.sizes().headDim());
      parts.feedForward();
    }
    model.ends();
    return model;
  }

  static FamilyModel granite(String name) {
    FamilyModel model = new FamilyModel(name, "granite", "granite", Sizes.SQUARE);
    model.say("rope.dimension_count", model.sizes().headDim());
    model.ropeBase(1000);
    scale(model, "embedding_scale", "embedding_multiplier", 6);
    scale(model, "attention.scale", "attention_multiplier", 0.4f);
    scale(model, "residual_scale", "residual_multiplier", 0.6f);
    scale(model, "logit_scale", "logits_scaling", 0.5f);
    neighbouringLayers(model);
    model.tiedEnds(0.05, 3);
    return model;
  }

  private static void scale(FamilyModel model, String key, String property, float value) {
    model.say(key, value);
    model.json(property, value);
  }

  /** No norm before, one after; queries and keys are normed over all heads at once. */
  static FamilyModel olmo2(String name) {
    FamilyModel model = new FamilyModel(name, "olmo2", "olmo2", Sizes.SQUARE);
    model.ropeBase(1000);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      Parts parts = new Parts(model, layer);
      parts.attention();
      parts.queryNorms(model.sizes().queries(), model.sizes().keys());
      parts.norm("post_attention_norm", "post_attention_layernorm");
      parts.feedForward();
      parts.norm("post_ffw_norm", "post_feedforward_layernorm");
    }
    model.ends();
    return model;
  }

  /** Every fourth layer knows no positions. */
  static FamilyModel smollm3(String name) {
    FamilyModel model = new FamilyModel(name, "smollm3", "smollm3", Sizes.SQUARE.withLayers(5));
    model.say("rope.dimension_count", model.sizes().headDim());
    model.ropeBase(1000);
    JsonArray rotates = new JsonArray();
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      rotates.add(layer % 4 == 3 ? 0 : 1);
    }
    model.json().add("no_rope_layers", rotates);
    model.json("no_rope_layer_interval", 4);
    neighbouringLayers(model);
    model.tiedEnds(0.1, 2.5);
    return model;
  }

  /** Projections that are one: queries, keys and values; gate and up. */
  static FamilyModel phi3(String name) {
    Sizes sizes = Sizes.SQUARE;
    FamilyModel model = new FamilyModel(name, "phi3", "phi3", sizes);
    model.say("rope.dimension_count", sizes.headDim());
    model.say("attention.sliding_window", 0);
    model.ropeBase(1000);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      Parts parts = new Parts(model, layer);
      parts.normsBefore();
      int heads = sizes.queries() + 2 * sizes.keys();
      parts.matrix("attn_qkv", "self_attn.qkv_proj", 1.4, heads, sizes.hidden());
      parts.matrix("attn_output", "self_attn.o_proj", 1.3, sizes.hidden(), sizes.queries());
      parts.matrix("ffn_up", "mlp.gate_up_proj", 1.3, 2 * sizes.feedForward(), sizes.hidden());
      parts.matrix("ffn_down", "mlp.down_proj", 1.3, sizes.hidden(), sizes.feedForward());
    }
    model.ends();
    return model;
  }
}
