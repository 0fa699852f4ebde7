package dev.kvasir.family;

import com.google.gson.JsonArray;
import dev.kvasir.format.GgufValue;
import java.util.List;
import java.util.stream.IntStream;

/** Families with recurrent layers between those with attention. */
final class HybridFamilies {
  /** Those that further tests run; experts would add nothing to them but time. */
  static final List<Family> ALL =
      List.of(
          Family.LFM2,
          Family.QWEN35,
          Family.QWEN35_MOE,
          Family.QWEN3_NEXT,
          Family.GRANITE_HYBRID,
          Family.NEMOTRON_H);

  private static final int EXPERTS = 6;

  /**
   * Experts of a token. With few of them, a cache of four bits changes now and then which ones a
   * token uses. That hides what a bit costs: with 3, 4 of 128 choices of {@code lfm2moe} differ,
   * and the two tokens with such a choice lose 18 times as much as the other 30.
   */
  private static final int USED = 4;

  private static final int EXPERT_WIDTH = 32;

  /** Width of the vectors that experts of Nemotron 3 Super read and write. */
  private static final int LATENT = 32;

  private HybridFamilies() {}

  /** Short convolutions in all but every third layer. */
  static FamilyModel lfm2(String name) {
    return lfm2(new FamilyModel(name, "lfm2", "lfm2", FamilySizes.SQUARE.withLayers(6)), 6);
  }

  /** The same with experts after the first two layers. */
  static FamilyModel lfm2moe(String name) {
    FamilySizes sizes = FamilySizes.SQUARE.withLayers(6);
    FamilyModel model = new FamilyModel(name, "lfm2moe", "lfm2_moe", sizes);
    size(model, "expert_count", "num_experts", EXPERTS);
    size(model, "expert_used_count", "num_experts_per_tok", USED);
    size(model, "expert_feed_forward_length", "moe_intermediate_size", EXPERT_WIDTH);
    size(model, "leading_dense_block_count", "num_dense_layers", 2);
    model.putMetadata("expert_gating_func", 2);
    model.json("norm_topk_prob", true);
    model.json("use_expert_bias", true);
    return lfm2(model, 2);
  }

  private static void size(FamilyModel model, String key, String property, int value) {
    model.putMetadata(key, value);
    model.json(property, value);
  }

  private static FamilyModel lfm2(FamilyModel model, int dense) {
    FamilySizes sizes = model.sizes();
    model.ropeBase(DenseFamilies.ROPE_BASE);
    model.json("norm_eps", 1e-3f);
    model.json("block_auto_adjust_ff_dim", false);
    int taps = 3;
    model.putMetadata("shortconv.l_cache", taps);
    model.json("conv_L_cache", taps);
    model.json("conv_bias", false);
    attentionEveryThird(model, "full_attention", "conv");
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.norm("attn_norm", "operator_norm");
      parts.norm("ffn_norm", "ffn_norm");
      if (layer % 3 == 2) {
        parts.matrix("attn_q", "self_attn.q_proj", 1.4, sizes.queries(), sizes.hidden());
        parts.matrix("attn_k", "self_attn.k_proj", 1.4, sizes.keys(), sizes.hidden());
        parts.matrix("attn_v", "self_attn.v_proj", 1.3, sizes.keys(), sizes.hidden());
        parts.matrix("attn_output", "self_attn.out_proj", 1.3, sizes.hidden(), sizes.queries());
        parts.norm("attn_q_norm", "self_attn.q_layernorm", sizes.headDim());
        parts.norm("attn_k_norm", "self_attn.k_layernorm", sizes.headDim());
      } else {
        parts.matrix("shortconv.in_proj", "conv.in_proj", 1.2, 3 * sizes.hidden(), sizes.hidden());
        kernel(model, layer, "shortconv.conv", "conv.conv", sizes.hidden(), taps);
        parts.matrix("shortconv.out_proj", "conv.out_proj", 1.2, sizes.hidden(), sizes.hidden());
      }
      if (layer >= dense) {
        parts.experts("feed_forward.", EXPERTS, EXPERT_WIDTH, "w1", "w3", "w2");
        correction(model, layer, FamilyModel.huggingFace(layer) + "feed_forward.expert_bias");
        continue;
      }
      parts.matrix("ffn_gate", "feed_forward.w1", 1.3, sizes.feedForward(), sizes.hidden());
      parts.matrix("ffn_up", "feed_forward.w3", 1.3, sizes.feedForward(), sizes.hidden());
      parts.matrix("ffn_down", "feed_forward.w2", 1.3, sizes.hidden(), sizes.feedForward());
    }
    TensorValues embedding =
        model.random("token_embd", 0, 0.2, FamilyModel.VOCABULARY, sizes.hidden());
    model.gguf("token_embd.weight", embedding);
    model.folder("model.embed_tokens.weight", embedding);
    model.norm("token_embd_norm", "model.embedding_norm", sizes.hidden());
    model.json("tie_word_embeddings", true);
    return model;
  }

  /** Adds what is added to the scores of experts for their selection. */
  private static void correction(FamilyModel model, int layer, String folder) {
    String gguf = FamilyModel.gguf(layer) + "exp_probs_b.bias";
    TensorValues values = model.random(gguf, 0, 0.3, EXPERTS);
    model.gguf(gguf, values);
    model.folder(folder, values);
  }

  /** Mamba-2 in all but every third layer, attention without positions, and Granite's factors. */
  static FamilyModel graniteHybrid(String name) {
    return graniteHybrid(name, false);
  }

  /** The same with experts and a shared expert. */
  static FamilyModel graniteHybridMoe(String name) {
    return graniteHybrid(name, true);
  }

  private static FamilyModel graniteHybrid(String name, boolean hasExperts) {
    FamilySizes sizes = FamilySizes.SQUARE.withLayers(6);
    FamilyModel model = new FamilyModel(name, "granitehybrid", "granitemoehybrid", sizes);
    DenseFamilies.graniteScales(model);
    model.putMetadata("rope.scaling.finetuned", false);
    model.putMetadata("rope.dimension_count", sizes.headDim());
    model.json("position_embedding_type", "nope");
    model.json("shared_intermediate_size", sizes.feedForward());
    model.json("num_local_experts", hasExperts ? EXPERTS : 0);
    if (hasExperts) {
      model.putMetadata("expert_count", EXPERTS);
      size(model, "expert_used_count", "num_experts_per_tok", USED);
      model.putMetadata("feed_forward_length", EXPERT_WIDTH);
      model.json("intermediate_size", EXPERT_WIDTH);
      model.putMetadata("expert_shared_feed_forward_length", sizes.feedForward());
    }
    attentionEveryThird(model, "attention", "mamba");
    Mamba mamba = new Mamba(4, 8, 16, 1, 8);
    mamba.describe(model);
    model.json("mamba_n_heads", mamba.heads);
    model.json("mamba_d_head", mamba.headDim);
    model.json("mamba_n_groups", mamba.groups);
    model.json("mamba_d_state", mamba.stateDim);
    model.json("mamba_d_conv", mamba.taps);
    model.json("mamba_expand", mamba.inner() / sizes.hidden());
    for (int layer = 0; layer < sizes.layers(); layer++) {
      LayerTensors parts = new LayerTensors(model, layer);
      parts.normsBefore();
      if (layer % 3 == 2) {
        parts.neighbouringAttention();
      } else {
        mamba.layer(model, layer, FamilyModel.huggingFace(layer) + "mamba.");
      }
      String gguf = FamilyModel.gguf(layer);
      String suffix = hasExperts ? "_shexp" : "";
      TensorValues gates =
          model.randomMatrix(gguf + "ffn_gate", 1.3, 2 * sizes.feedForward(), sizes.hidden());
      model.gguf(gguf + "ffn_gate" + suffix + ".weight", gates.rows(0, sizes.feedForward()));
      model.gguf(
          gguf + "ffn_up" + suffix + ".weight",
          gates.rows(sizes.feedForward(), sizes.feedForward()));
      model.folder(FamilyModel.huggingFace(layer) + "shared_mlp.input_linear.weight", gates);
      parts.matrix(
          "ffn_down" + suffix,
          "shared_mlp.output_linear",
          1.3,
          sizes.hidden(),
          sizes.feedForward());
      if (hasExperts) {
        graniteExperts(model, layer, parts);
      }
    }
    model.tiedEnds(0.05, 3);
    return model;
  }

  /** Adds experts whose gates and ups are one tensor in a folder. */
  private static void graniteExperts(FamilyModel model, int layer, LayerTensors parts) {
    int hidden = model.sizes().hidden();
    String gguf = FamilyModel.gguf(layer);
    String folder = FamilyModel.huggingFace(layer) + "block_sparse_moe.";
    parts.matrix("ffn_gate_inp", "block_sparse_moe.router.layer", 2, EXPERTS, hidden);
    TensorValues inputs =
        model.randomMatrix(gguf + "ffn_gate_up_exps", 1.5, EXPERTS, 2 * EXPERT_WIDTH, hidden);
    TensorValues halves = inputs.reshaped(2 * EXPERTS, EXPERT_WIDTH * hidden);
    model.gguf(
        gguf + "ffn_gate_exps.weight",
        halves.withRows(EXPERTS, expert -> 2 * expert).reshaped(EXPERTS, EXPERT_WIDTH, hidden));
    model.gguf(
        gguf + "ffn_up_exps.weight",
        halves.withRows(EXPERTS, expert -> 2 * expert + 1).reshaped(EXPERTS, EXPERT_WIDTH, hidden));
    model.folder(folder + "input_linear.weight", inputs);
    TensorValues down =
        model.randomMatrix(gguf + "ffn_down_exps", 1.5, EXPERTS, hidden, EXPERT_WIDTH);
    model.gguf(gguf + "ffn_down_exps.weight", down);
    model.folder(folder + "output_linear.weight", down);
  }

  /** Layers of one part each: Mamba-2, attention without positions, or squares without gates. */
  static FamilyModel nemotronH(String name) {
    return nemotronH(name, "nemotron_h", "M-*M-*", 0);
  }

  /** The same with experts without gates, and a shared one. */
  static FamilyModel nemotronHMoe(String name) {
    return nemotronH(name, "nemotron_h_moe", "ME*ME*", 0);
  }

  /** The same with experts that read and write narrower vectors. */
  static FamilyModel nemotronHLatent(String name) {
    return nemotronH(name, "nemotron_h_moe", "ME*ME*", LATENT);
  }

  private static FamilyModel nemotronH(
      String name, String architecture, String pattern, int latent) {
    FamilySizes sizes = FamilySizes.WIDE.withLayers(pattern.length());
    FamilyModel model = new FamilyModel(name, architecture, "nemotron_h", sizes);
    boolean hasExperts = pattern.contains("E");
    int feedForward = hasExperts ? EXPERT_WIDTH : sizes.feedForward();
    if (hasExperts) {
      size(model, "expert_count", "n_routed_experts", EXPERTS);
      size(model, "expert_used_count", "num_experts_per_tok", USED);
      size(model, "expert_feed_forward_length", "moe_intermediate_size", EXPERT_WIDTH);
      size(
          model,
          "expert_shared_feed_forward_length",
          "moe_shared_expert_intermediate_size",
          sizes.feedForward());
      size(model, "expert_shared_count", "n_shared_experts", 1);
      model.putMetadata("expert_group_count", 1);
      model.putMetadata("expert_weights_norm", true);
      model.putMetadata("expert_weights_scale", 1.5f);
      model.json("norm_topk_prob", true);
      model.json("routed_scaling_factor", 1.5f);
      if (latent > 0) {
        size(model, "moe_latent_size", "moe_latent_size", latent);
      }
    }
    model.headDim(sizes.headDim());
    model.putMetadata("attention.layer_norm_epsilon", 1e-3f);
    model.json("layer_norm_epsilon", 1e-3f);
    model.json("hybrid_override_pattern", pattern);
    model.json("mlp_hidden_act", "relu2");
    model.putMetadata("attention.head_count_kv", perLayer(pattern, '*', sizes.kvHeads()));
    model.putMetadata(
        "feed_forward_length", perLayer(pattern, hasExperts ? 'E' : '-', feedForward));
    Mamba mamba = new Mamba(4, 6, 16, 2, 8);
    mamba.describe(model);
    model.json("mamba_num_heads", mamba.heads);
    model.json("mamba_head_dim", mamba.headDim);
    model.json("n_groups", mamba.groups);
    model.json("ssm_state_size", mamba.stateDim);
    model.json("conv_kernel", mamba.taps);
    for (int layer = 0; layer < sizes.layers(); layer++) {
      String gguf = FamilyModel.gguf(layer);
      String folder = "backbone.layers." + layer + ".";
      String mixer = folder + "mixer.";
      model.norm(gguf + "attn_norm", folder + "norm", sizes.hidden());
      switch (pattern.charAt(layer)) {
        case 'M' -> mamba.layer(model, layer, mixer);
        case '*' -> {
          model.matrix(gguf + "attn_q", mixer + "q_proj", 1.4, sizes.queries(), sizes.hidden());
          model.matrix(gguf + "attn_k", mixer + "k_proj", 1.4, sizes.keys(), sizes.hidden());
          model.matrix(gguf + "attn_v", mixer + "v_proj", 1.3, sizes.keys(), sizes.hidden());
          model.matrix(gguf + "attn_output", mixer + "o_proj", 2, sizes.hidden(), sizes.queries());
        }
        case 'E' -> nemotronExperts(model, layer, mixer, latent);
        default -> {
          int width = sizes.feedForward();
          model.matrix(gguf + "ffn_up", mixer + "up_proj", 1, width, sizes.hidden());
          model.matrix(gguf + "ffn_down", mixer + "down_proj", 1, sizes.hidden(), width);
        }
      }
    }
    TensorValues embedding =
        model.random("token_embd", 0, 1, FamilyModel.VOCABULARY, sizes.hidden());
    model.gguf("token_embd.weight", embedding);
    model.folder("backbone.embeddings.weight", embedding);
    model.norm("output_norm", "backbone.norm_f", sizes.hidden());
    model.json("tie_word_embeddings", false);
    model.matrix("output", "lm_head", 2, FamilyModel.VOCABULARY, sizes.hidden());
    return model;
  }

  private static void nemotronExperts(FamilyModel model, int layer, String mixer, int latent) {
    int hidden = model.sizes().hidden();
    int vectors = latent == 0 ? hidden : latent;
    int shared = model.sizes().feedForward();
    String gguf = FamilyModel.gguf(layer);
    model.matrix(gguf + "ffn_gate_inp", mixer + "gate", 2, EXPERTS, hidden);
    correction(model, layer, mixer + "gate.e_score_correction_bias");
    TensorValues up = model.randomMatrix(gguf + "ffn_up_exps", 1, EXPERTS, EXPERT_WIDTH, vectors);
    TensorValues down =
        model.randomMatrix(gguf + "ffn_down_exps", 1, EXPERTS, vectors, EXPERT_WIDTH);
    model.gguf(gguf + "ffn_up_exps.weight", up);
    model.gguf(gguf + "ffn_down_exps.weight", down);
    for (int i = 0; i < EXPERTS; i++) {
      model.folder(mixer + "experts." + i + ".up_proj.weight", up.part(i));
      model.folder(mixer + "experts." + i + ".down_proj.weight", down.part(i));
    }
    if (latent > 0) {
      model.matrix(gguf + "ffn_latent_down", mixer + "fc1_latent_proj", 1, latent, hidden);
      model.matrix(gguf + "ffn_latent_up", mixer + "fc2_latent_proj", 1, hidden, latent);
    }
    model.matrix(gguf + "ffn_up_shexp", mixer + "shared_experts.up_proj", 1, shared, hidden);
    model.matrix(gguf + "ffn_down_shexp", mixer + "shared_experts.down_proj", 1, hidden, shared);
  }

  /** Returns a value in layers of a kind, and 0 in others. */
  private static GgufValue perLayer(String pattern, char kind, int value) {
    return FamilyModel.array(
        pattern
            .chars()
            .mapToObj(one -> GgufValue.int32(one == kind ? value : 0))
            .toArray(GgufValue[]::new));
  }

  /** The sizes and tensors of Mamba-2 layers. */
  private record Mamba(int taps, int heads, int headDim, int groups, int stateDim) {
    int inner() {
      return heads * headDim;
    }

    void describe(FamilyModel model) {
      model.putMetadata("ssm.conv_kernel", taps);
      model.putMetadata("ssm.inner_size", inner());
      model.putMetadata("ssm.state_size", stateDim);
      model.putMetadata("ssm.time_step_rank", heads);
      model.putMetadata("ssm.group_count", groups);
    }

    /**
     * @param folder prefix of the names in a folder
     */
    void layer(FamilyModel model, int layer, String folder) {
      int hidden = model.sizes().hidden();
      int convolved = inner() + 2 * groups * stateDim;
      String gguf = FamilyModel.gguf(layer);
      model.matrix(gguf + "ssm_in", folder + "in_proj", 1.3, inner() + convolved + heads, hidden);
      TensorValues kernel = model.random(gguf + "ssm_conv1d", 0, 0.6, convolved, taps);
      model.gguf(gguf + "ssm_conv1d.weight", kernel);
      model.folder(folder + "conv1d.weight", kernel.reshaped(convolved, 1, taps));
      model.bias(gguf + "ssm_conv1d", folder + "conv1d", 0.3, convolved);
      TensorValues bias = model.random(gguf + "ssm_dt", -1, 0.5, heads);
      model.gguf(gguf + "ssm_dt.bias", bias);
      model.folder(folder + "dt_bias", bias);
      TensorValues logarithms = model.random(gguf + "ssm_a", 0, 0.7, heads);
      model.gguf(gguf + "ssm_a", logarithms.mapped(x -> (float) -Math.exp(x)).reshaped(heads, 1));
      model.folder(folder + "A_log", logarithms);
      TensorValues skip = model.random(gguf + "ssm_d", 1, 0.3, heads);
      model.gguf(gguf + "ssm_d", skip.reshaped(heads, 1));
      model.folder(folder + "D", skip);
      TensorValues norm = model.random(gguf + "ssm_norm", 1, 0.3, inner());
      model.gguf(gguf + "ssm_norm.weight", norm.reshaped(groups, inner() / groups));
      model.folder(folder + "norm.weight", norm);
      model.matrix(gguf + "ssm_out", folder + "out_proj", 1.5, hidden, inner());
    }
  }

  /** Says which layers attend: in GGUF by their KV heads, in a folder by their types. */
  private static void attentionEveryThird(FamilyModel model, String attending, String recurrent) {
    FamilySizes sizes = model.sizes();
    JsonArray types = new JsonArray();
    IntStream.range(0, sizes.layers())
        .forEach(layer -> types.add(layer % 3 == 2 ? attending : recurrent));
    model.json().add("layer_types", types);
    GgufValue[] heads =
        IntStream.range(0, sizes.layers())
            .mapToObj(layer -> GgufValue.int32(layer % 3 == 2 ? sizes.kvHeads() : 0))
            .toArray(GgufValue[]::new);
    model.putMetadata("attention.head_count_kv", FamilyModel.array(heads));
  }

  /** Adds the kernel of a convolution; folders have a dimension of one between the two. */
  private static void kernel(
      FamilyModel model, int layer, String gguf, String huggingFace, int channels, int taps) {
    String name = FamilyModel.gguf(layer) + gguf;
    TensorValues values = model.random(name, 0, 0.6, channels, taps);
    model.gguf(name + ".weight", values);
    model.folder(
        FamilyModel.huggingFace(layer) + huggingFace + ".weight",
        values.reshaped(channels, 1, taps));
  }
}
