package dev.kvasir.model;

import com.google.gson.JsonObject;

/**
 * Values that published {@code config.json} files omit because they are class defaults, by family.
 * Sizes that every file states are not listed.
 */
final class HuggingFaceDefaults {
  private HuggingFaceDefaults() {}

  static JsonObject of(Architecture architecture) {
    return switch (architecture) {
      case GEMMA2 -> gemma2();
      case GEMMA3 -> gemma3();
      case SMOLLM3 -> smollm3();
      default -> new JsonObject();
    };
  }

  private static JsonObject gemma2() {
    JsonObject json = new JsonObject();
    json.addProperty("head_dim", 256);
    json.addProperty("query_pre_attn_scalar", 256);
    json.addProperty("max_position_embeddings", 8192);
    json.addProperty("sliding_window", 4096);
    json.addProperty("attn_logit_softcapping", 50);
    json.addProperty("final_logit_softcapping", 30);
    json.addProperty("tie_word_embeddings", true);
    return json;
  }

  /** Returns defaults of Gemma 3, whose multimodal files state little more than their widths. */
  private static JsonObject gemma3() {
    JsonObject json = new JsonObject();
    json.addProperty("vocab_size", 262_208);
    json.addProperty("num_attention_heads", 8);
    json.addProperty("num_key_value_heads", 4);
    json.addProperty("head_dim", 256);
    json.addProperty("query_pre_attn_scalar", 256);
    json.addProperty("max_position_embeddings", 131_072);
    json.addProperty("sliding_window", 4096);
    json.addProperty("rope_theta", 1_000_000);
    json.addProperty("rope_local_base_freq", 10_000);
    json.addProperty("tie_word_embeddings", true);
    return json;
  }

  private static JsonObject smollm3() {
    JsonObject json = new JsonObject();
    json.addProperty("rope_theta", 2_000_000);
    json.addProperty("tie_word_embeddings", true);
    return json;
  }
}
