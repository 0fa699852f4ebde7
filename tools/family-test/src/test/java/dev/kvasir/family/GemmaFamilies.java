package dev.kvasir.family;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Norms before and after, local and global layers, and scaled embeddings. */
final class GemmaFamilies {
  private static final int WINDOW = 16;

  private GemmaFamilies() {}

  /** Every other layer is local; scores and logits have soft caps within their usual range. */
  static FamilyModel gemma2(String name) {
    FamilyModel model = new FamilyModel(name, "gemma2", "gemma2", FamilySizes.WIDE);
    common(model, 2);
    model.ropeBase(10_000);
    cap(model, "attn_logit_softcapping", 2);
    cap(model, "final_logit_softcapping", 4);
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      layer(new LayerTensors(model, layer));
    }
    model.tiedEnds(0.06, 4);
    return model;
  }

  private static void cap(FamilyModel model, String key, float cap) {
    model.putMetadata(key, cap);
    model.json(key, cap);
  }

  /** Five local layers, a global one with RoPE scaling, and one local layer. */
  static FamilyModel gemma3(String name) {
    FamilyModel model = gemma3(name, FamilySizes.WIDE.withLayers(7));
    model.ropeBase(100_000);
    model.json("rope_local_base_freq", 10_000);
    model.putMetadata("rope.scaling.type", "linear");
    model.putMetadata("rope.scaling.factor", 4f);
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "linear");
    scaling.addProperty("factor", 4);
    model.json().add("rope_scaling", scaling);
    return model;
  }

  /** One KV head of 256 channels for four query heads, like the smallest model of the family. */
  static FamilyModel gemma3Wide(String name) {
    FamilyModel model = gemma3(name, FamilySizes.WIDE.withLayers(6).withHeads(4, 1, 256));
    model.ropeBase(5000);
    model.putMetadata("rope.freq_base_swa", 500f);
    model.json("rope_local_base_freq", 500);
    return model;
  }

  private static FamilyModel gemma3(String name, FamilySizes sizes) {
    FamilyModel model = new FamilyModel(name, "gemma3", "gemma3_text", sizes);
    common(model, 6);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      layer(parts);
      parts.queryNorms(sizes.headDim(), sizes.headDim());
    }
    model.tiedEnds(0.06, 4);
    return model;
  }

  private static void common(FamilyModel model, int period) {
    model.storeNormsWithout(1);
    model.headDim(model.sizes().headDim());
    model.putMetadata("attention.sliding_window", WINDOW);
    model.json("sliding_window", WINDOW);
    JsonArray types = new JsonArray();
    for (int layer = 0; layer < model.sizes().layers(); layer++) {
      types.add(layer % period == period - 1 ? "full_attention" : "sliding_attention");
    }
    model.json().add("layer_types", types);
    model.json("query_pre_attn_scalar", model.sizes().headDim());
    model.json("hidden_activation", "gelu_pytorch_tanh");
  }

  private static void layer(LayerTensors parts) {
    parts.norm("attn_norm", "input_layernorm");
    parts.attention();
    parts.norm("post_attention_norm", "post_attention_layernorm");
    parts.norm("ffn_norm", "pre_feedforward_layernorm");
    parts.feedForward();
    parts.norm("post_ffw_norm", "post_feedforward_layernorm");
  }
}
