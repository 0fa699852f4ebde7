package dev.kvasir.family;

import com.google.gson.JsonArray;
import dev.kvasir.format.GgufValue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Families with one feed-forward block in each layer. */
final class DenseFamilies {
  /** Small enough that most channel pairs rotate visibly within 64 positions. */
  static final float ROPE_BASE = 1000;

  private DenseFamilies() {}

  static FamilyModel llama(String name) {
    FamilyModel model = new FamilyModel(name, "llama", "llama", FamilySizes.WIDE);
    model.ropeBase(ROPE_BASE);
    neighbours(model);
    return model;
  }

  /** Llama with only local layers; GGUF has no architecture name for it. */
  static FamilyModel mistral(String name) {
    return mistral(name, "llama");
  }

  /**
   * The same model in a form that llama.cpp supports. It ignores the window of {@code llama};
   * Granite with scales of 1 and neutral sinks is Llama with windows.
   */
  static FamilyModel mistralAsGranite(String name) {
    FamilyModel model = mistral(name, "granite_swa");
    int layers = model.sizes().layers();
    boolean[] local = new boolean[layers];
    Arrays.fill(local, true);
    model.putMetadata("logit_scale", 1f);
    model.putMetadata("attention.sliding_window_pattern", bools(local));
    for (int layer = 0; layer < layers; layer++) {
      TensorValues nothing = TensorValues.same(-1e30f, model.sizes().queryHeads());
      model.gguf(FamilyModel.gguf(layer) + "attn_sinks.weight", nothing);
    }
    return model;
  }

  private static FamilyModel mistral(String name, String architecture) {
    FamilyModel model = new FamilyModel(name, architecture, "mistral", FamilySizes.WIDE);
    model.ropeBase(10_000); // the value of Granite's local layers, whatever else a file says
    model.putMetadata("attention.sliding_window", 40);
    model.json("sliding_window", 40);
    neighbours(model);
    return model;
  }

  /** Returns an array of truth values. */
  static GgufValue bools(boolean... values) {
    ByteBuffer bytes = ByteBuffer.allocate(12 + values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(7).putLong(values.length);
    for (boolean value : values) {
      bytes.put((byte) (value ? 1 : 0));
    }
    return new GgufValue(9, bytes.array());
  }

  private static void neighbours(FamilyModel model) {
    model.headDim(model.sizes().headDim());
    model.putMetadata("rope.dimension_count", model.sizes().headDim());
    neighbouringLayers(model);
    model.ends();
  }

  static void neighbouringLayers(FamilyModel model) {
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.neighbouringAttention();
      parts.feedForward();
    }
  }

  static FamilyModel qwen2(String name) {
    FamilyModel model = new FamilyModel(name, "qwen2", "qwen2", FamilySizes.SQUARE);
    model.ropeBase(ROPE_BASE);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.attentionBiases();
      parts.feedForward();
    }
    model.ends();
    return model;
  }

  static FamilyModel qwen3(String name) {
    FamilyModel model = new FamilyModel(name, "qwen3", "qwen3", FamilySizes.WIDE);
    model.headDim(model.sizes().headDim());
    model.ropeBase(ROPE_BASE);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.queryNorms(model.sizes().headDim(), model.sizes().headDim());
      parts.feedForward();
    }
    model.ends();
    return model;
  }

  /** Rotates neighbours in both formats. */
  static FamilyModel ernie(String name) {
    FamilyModel model = new FamilyModel(name, "ernie4_5", "ernie4_5", FamilySizes.WIDE);
    model.headDim(model.sizes().headDim());
    model.ropeBase(ROPE_BASE);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.feedForward();
    }
    model.tiedEnds(0.1, 2.5);
    return model;
  }

  static FamilyModel granite(String name) {
    FamilyModel model = new FamilyModel(name, "granite", "granite", FamilySizes.SQUARE);
    model.putMetadata("rope.dimension_count", model.sizes().headDim());
    model.ropeBase(ROPE_BASE);
    graniteScales(model);
    neighbouringLayers(model);
    model.tiedEnds(0.05, 3);
    return model;
  }

  static void graniteScales(FamilyModel model) {
    scale(model, "embedding_scale", "embedding_multiplier", 6);
    scale(model, "attention.scale", "attention_multiplier", 0.4f);
    scale(model, "residual_scale", "residual_multiplier", 0.6f);
    scale(model, "logit_scale", "logits_scaling", 0.5f);
  }

  private static void scale(FamilyModel model, String key, String property, float value) {
    model.putMetadata(key, value);
    model.json(property, value);
  }

  /** Norms after the blocks only; queries and keys are normalized over all heads at once. */
  static FamilyModel olmo2(String name) {
    FamilyModel model = new FamilyModel(name, "olmo2", "olmo2", FamilySizes.SQUARE);
    model.ropeBase(ROPE_BASE);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.attention();
      parts.queryNorms(model.sizes().queries(), model.sizes().keys());
      parts.norm("post_attention_norm", "post_attention_layernorm");
      parts.feedForward();
      parts.norm("post_ffw_norm", "post_feedforward_layernorm");
    }
    model.ends();
    return model;
  }

  /** Every fourth layer has no RoPE. */
  static FamilyModel smollm3(String name) {
    FamilyModel model =
        new FamilyModel(name, "smollm3", "smollm3", FamilySizes.SQUARE.withLayers(5));
    model.putMetadata("rope.dimension_count", model.sizes().headDim());
    model.ropeBase(ROPE_BASE);
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

  /** Fused projections: queries, keys and values; gate and up. */
  static FamilyModel phi3(String name) {
    FamilySizes sizes = FamilySizes.SQUARE;
    FamilyModel model = new FamilyModel(name, "phi3", "phi3", sizes);
    model.putMetadata("rope.dimension_count", sizes.headDim());
    model.putMetadata("attention.sliding_window", 0);
    model.ropeBase(ROPE_BASE);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
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
