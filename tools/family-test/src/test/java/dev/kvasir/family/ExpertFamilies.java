package dev.kvasir.family;

/** Mixture-of-experts families. */
final class ExpertFamilies {
  private static final int EXPERTS = 8;
  private static final int WIDTH = 32;

  private ExpertFamilies() {}

  static FamilyModel qwen3moe(String name) {
    FamilyModel model = new FamilyModel(name, "qwen3moe", "qwen3_moe", FamilySizes.WIDE);
    FamilySizes sizes = model.sizes();
    model.headDim(sizes.headDim());
    model.ropeBase(DenseFamilies.ROPE_BASE);
    experts(model, 3, "num_experts");
    model.putMetadata("expert_feed_forward_length", WIDTH);
    model.json("moe_intermediate_size", WIDTH);
    model.json("norm_topk_prob", true);
    model.json("decoder_sparse_step", 1);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.queryNorms(sizes.headDim(), sizes.headDim());
      parts.experts("mlp.", EXPERTS, WIDTH, "gate_proj", "up_proj", "down_proj");
    }
    model.ends();
    return model;
  }

  /** A dense first layer, sigmoids with corrections, shared experts, half of a head rotates. */
  static FamilyModel glm4moe(String name) {
    FamilySizes sizes = FamilySizes.WIDE;
    FamilyModel model = new FamilyModel(name, "glm4moe", "glm4_moe", sizes);
    model.headDim(sizes.headDim());
    model.putMetadata("rope.dimension_count", sizes.headDim() / 2);
    model.json("partial_rotary_factor", 0.5);
    model.ropeBase(DenseFamilies.ROPE_BASE);
    experts(model, 3, "n_routed_experts");
    model.putMetadata("expert_feed_forward_length", WIDTH);
    model.json("moe_intermediate_size", WIDTH);
    model.putMetadata("expert_shared_count", 2);
    model.json("n_shared_experts", 2);
    model.putMetadata("leading_dense_block_count", 1);
    model.json("first_k_dense_replace", 1);
    model.putMetadata("expert_gating_func", 2);
    model.putMetadata("expert_weights_norm", true);
    model.json("norm_topk_prob", true);
    model.putMetadata("expert_weights_scale", 1.5f);
    model.json("routed_scaling_factor", 1.5f);
    model.json("use_qk_norm", true);
    model.json("attention_bias", true);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.norm("attn_norm", "input_layernorm");
      parts.norm("post_attention_norm", "post_attention_layernorm");
      parts.attention();
      parts.attentionBiases();
      parts.queryNorms(sizes.headDim(), sizes.headDim());
      if (layer == 0) {
        parts.feedForward();
        continue;
      }
      parts.experts("mlp.", EXPERTS, WIDTH, "gate_proj", "up_proj", "down_proj");
      parts.gated("_shexp", "mlp.shared_experts.", 2 * WIDTH);
      String bias = FamilyModel.gguf(layer) + "exp_probs_b.bias";
      TensorValues values = model.random(bias, 0, 0.3, EXPERTS);
      model.gguf(bias, values);
      model.folder(FamilyModel.huggingFace(layer) + "mlp.gate.e_score_correction_bias", values);
    }
    model.ends();
    return model;
  }

  /** Expert weights are not normalized, and a shared expert has a gate. */
  static FamilyModel qwen2moe(String name) {
    int shared = 48;
    FamilyModel model = new FamilyModel(name, "qwen2moe", "qwen2_moe", FamilySizes.SQUARE);
    FamilySizes sizes = model.sizes();
    model.ropeBase(DenseFamilies.ROPE_BASE);
    experts(model, 3, "num_experts");
    model.putMetadata("expert_feed_forward_length", WIDTH);
    model.json("moe_intermediate_size", WIDTH);
    model.putMetadata("expert_shared_feed_forward_length", shared);
    model.json("shared_expert_intermediate_size", shared);
    model.json("norm_topk_prob", false);
    model.json("decoder_sparse_step", 1);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.attention();
      parts.attentionBiases();
      parts.experts("mlp.", EXPERTS, WIDTH, "gate_proj", "up_proj", "down_proj");
      parts.gated("_shexp", "mlp.shared_expert.", shared);
      String gate = FamilyModel.gguf(layer) + "ffn_gate_inp_shexp.weight";
      TensorValues values = model.randomMatrix(gate, 2, sizes.hidden());
      model.gguf(gate, values);
      model.folder(
          FamilyModel.huggingFace(layer) + "mlp.shared_expert_gate.weight",
          values.reshaped(1, sizes.hidden()));
    }
    model.ends();
    return model;
  }

  /** In GGUF this is Llama with experts. */
  static FamilyModel mixtral(String name) {
    FamilySizes sizes = FamilySizes.WIDE;
    FamilyModel model = new FamilyModel(name, "llama", "mixtral", sizes);
    model.headDim(sizes.headDim());
    model.putMetadata("rope.dimension_count", sizes.headDim());
    model.ropeBase(DenseFamilies.ROPE_BASE);
    experts(model, 2, "num_local_experts");
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      parts.neighbouringAttention();
      parts.experts("block_sparse_moe.", EXPERTS, sizes.feedForward(), "w1", "w3", "w2");
    }
    model.ends();
    return model;
  }

  private static void experts(FamilyModel model, int used, String property) {
    model.putMetadata("expert_count", EXPERTS);
    model.json(property, EXPERTS);
    model.putMetadata("expert_used_count", used);
    model.json("num_experts_per_tok", used);
  }
}
