package dev.kvasir.family;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;

/** DeepSeek: the keys and values of all heads come from one latent vector per token. */
final class LatentFamilies {
  private static final int LATENT = 32;
  private static final int QUERY_LATENT = 24;
  private static final int PLAIN = 16; // channels of a head without RoPE
  private static final int ROTATED = 16;
  private static final int VALUE = 24;
  private static final int WIDTH = 32;
  private static final int SHARED = 2;

  /**
   * llama.cpp recognises the small models, which have no latent queries, by their number of layers.
   */
  private static final int LITE_LAYERS = 26;

  /**
   * The differences between variants.
   *
   * @param queryLatent 0 for none
   * @param split whether a GGUF file stores the key and value projections of the latent separately,
   *     to be absorbed into queries and outputs; files of 2024 store them as one matrix, like
   *     folders
   */
  private record Variant(
      String modelType, int layers, int queryLatent, int experts, int used, boolean split) {}

  private LatentFamilies() {}

  static FamilyModel lite(String name) {
    return softmax(name, new Variant("deepseek_v2", LITE_LAYERS, 0, 6, 2, true));
  }

  static FamilyModel liteWithYarn(String name) {
    FamilyModel model = lite(name);
    float share = 0.707f;
    model.putMetadata("rope.scaling.yarn_log_multiplier", 0.1f * share);
    JsonObject scaling = YarnScaling.stretch(model);
    scaling.addProperty("mscale", share);
    scaling.addProperty("mscale_all_dim", share);
    scaling.addProperty("beta_fast", 32);
    scaling.addProperty("beta_slow", 1);
    return model;
  }

  static FamilyModel withQueryLatent(String name) {
    return softmax(name, new Variant("deepseek_v2", 4, QUERY_LATENT, 6, 2, true));
  }

  static FamilyModel withKeysAndValuesInOne(String name) {
    return softmax(name, new Variant("deepseek_v2", 4, QUERY_LATENT, 6, 2, false));
  }

  private static FamilyModel softmax(String name, Variant variant) {
    FamilyModel model = model(name, variant);
    model.putMetadata("expert_weights_scale", 1.5f);
    model.json("routed_scaling_factor", 1.5f);
    model.json("norm_topk_prob", false);
    model.json("scoring_func", "softmax");
    model.json("topk_method", "greedy");
    model.json("n_group", 1);
    model.json("topk_group", 1);
    return model;
  }

  /**
   * The third version: sigmoid scores, a bias that affects only the selection, and expert groups.
   */
  static FamilyModel withGroups(String name) {
    int experts = 12;
    FamilyModel model = model(name, new Variant("deepseek_v3", 4, QUERY_LATENT, experts, 3, true));
    model.putMetadata("expert_gating_func", 2);
    model.json("scoring_func", "sigmoid");
    model.putMetadata("expert_weights_scale", 2.5f);
    model.json("routed_scaling_factor", 2.5f);
    model.putMetadata("expert_weights_norm", true);
    model.json("norm_topk_prob", true);
    model.json("topk_method", "noaux_tc");
    model.putMetadata("expert_group_count", 4);
    model.json("n_group", 4);
    model.putMetadata("expert_group_used_count", 2);
    model.json("topk_group", 2);
    for (int layer = 1; layer < model.sizes().layers(); layer++) {
      String bias = FamilyModel.gguf(layer) + "exp_probs_b.bias";
      TensorValues values = model.random(bias, 0, 0.3, experts);
      model.gguf(bias, values);
      model.folder(FamilyModel.huggingFace(layer) + "mlp.gate.e_score_correction_bias", values);
    }
    return model;
  }

  private static FamilyModel model(String name, Variant variant) {
    FamilySizes sizes = new FamilySizes(variant.layers(), 64, 96, 4, 1, PLAIN + ROTATED);
    FamilyModel model = new FamilyModel(name, "deepseek2", variant.modelType(), sizes);
    model.epsilon(1e-6f); // transformers uses this for norms of latents, whatever a file says
    describeHeads(model, variant);
    describeExperts(model, variant);
    model.ropeBase(DenseFamilies.ROPE_BASE);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      queries(parts, sizes, variant);
      parts.matrix("attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa", 1.4, LATENT + ROTATED, 64);
      parts.norm("attn_kv_a_norm", "self_attn.kv_a_layernorm", LATENT);
      keysAndValues(model, layer, variant);
      int outputs = sizes.queryHeads() * VALUE;
      parts.matrix("attn_output", "self_attn.o_proj", 1.3, sizes.hidden(), outputs);
      if (layer == 0) {
        parts.feedForward();
      } else {
        parts.experts("mlp.", variant.experts(), WIDTH, "gate_proj", "up_proj", "down_proj");
        parts.gated("_shexp", "mlp.shared_experts.", SHARED * WIDTH);
      }
    }
    model.ends();
    return model;
  }

  private static void describeHeads(FamilyModel model, Variant variant) {
    model.putMetadata("attention.kv_lora_rank", LATENT);
    model.json("kv_lora_rank", LATENT);
    if (variant.split()) {
      model.putMetadata("attention.key_length", LATENT + ROTATED);
      model.putMetadata("attention.value_length", LATENT);
      model.putMetadata("attention.key_length_mla", PLAIN + ROTATED);
      model.putMetadata("attention.value_length_mla", VALUE);
    } else {
      model.putMetadata("attention.head_count_kv", model.sizes().queryHeads());
      model.putMetadata("attention.key_length", PLAIN + ROTATED);
      model.putMetadata("attention.value_length", VALUE);
    }
    model.putMetadata("rope.dimension_count", ROTATED);
    model.json("qk_nope_head_dim", PLAIN);
    model.json("qk_rope_head_dim", ROTATED);
    model.json("v_head_dim", VALUE);
    model.json("num_key_value_heads", model.sizes().queryHeads());
    if (variant.queryLatent() > 0) {
      model.putMetadata("attention.q_lora_rank", variant.queryLatent());
      model.json("q_lora_rank", variant.queryLatent());
    } else {
      model.json().add("q_lora_rank", JsonNull.INSTANCE);
    }
  }

  private static void describeExperts(FamilyModel model, Variant variant) {
    model.putMetadata("leading_dense_block_count", 1);
    model.json("first_k_dense_replace", 1);
    model.json("moe_layer_freq", 1);
    model.putMetadata("expert_count", variant.experts());
    model.json("n_routed_experts", variant.experts());
    model.putMetadata("expert_used_count", variant.used());
    model.json("num_experts_per_tok", variant.used());
    model.putMetadata("expert_shared_count", SHARED);
    model.json("n_shared_experts", SHARED);
    model.putMetadata("expert_feed_forward_length", WIDTH);
    model.json("moe_intermediate_size", WIDTH);
  }

  private static void queries(LayerTensors parts, FamilySizes sizes, Variant variant) {
    int latent = variant.queryLatent();
    if (latent == 0) {
      parts.matrix("attn_q", "self_attn.q_proj", 1.4, sizes.queries(), sizes.hidden());
    } else {
      parts.matrix("attn_q_a", "self_attn.q_a_proj", 1.4, latent, sizes.hidden());
      parts.norm("attn_q_a_norm", "self_attn.q_a_layernorm", latent);
      parts.matrix("attn_q_b", "self_attn.q_b_proj", 1.4, sizes.queries(), latent);
    }
  }

  /** A folder has the keys and values of a head in succession; GGUF has transposed keys. */
  private static void keysAndValues(FamilyModel model, int layer, Variant variant) {
    int heads = model.sizes().queryHeads();
    String stem = FamilyModel.gguf(layer);
    TensorValues keys = model.randomMatrix(stem + "attn_k_b", 1.4, heads, PLAIN, LATENT);
    TensorValues values = model.randomMatrix(stem + "attn_v_b", 1.3, heads, VALUE, LATENT);
    TensorValues both = keys.part(0).then(values.part(0));
    for (int head = 1; head < heads; head++) {
      both = both.then(keys.part(head)).then(values.part(head));
    }
    model.folder(FamilyModel.huggingFace(layer) + "self_attn.kv_b_proj.weight", both);
    if (variant.split()) {
      model.gguf(stem + "attn_k_b.weight", keys.transposed());
      model.gguf(stem + "attn_v_b.weight", values);
    } else {
      model.gguf(stem + "attn_kv_b.weight", both);
    }
  }
}
