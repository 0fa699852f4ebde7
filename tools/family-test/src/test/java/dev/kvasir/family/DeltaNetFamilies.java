package dev.kvasir.family;

import com.google.gson.JsonArray;
import dev.kvasir.format.GgufValue;

/** Qwen's hybrids: gated delta nets in all but every third layer, and attention with gates. */
final class DeltaNetFamilies {
  private static final FamilySizes SIZES = FamilySizes.SQUARE.withLayers(6);
  private static final int INTERVAL = 3;
  private static final int TAPS = 4;
  private static final int KEY_HEADS = 2;
  private static final int VALUE_HEADS = 4;
  private static final int SHARED = VALUE_HEADS / KEY_HEADS; // value heads of a key head
  private static final int DIM = 8;
  private static final int KEYS = KEY_HEADS * DIM;
  private static final int VALUES = VALUE_HEADS * DIM;
  private static final int EXPERTS = 6;
  private static final int EXPERT_WIDTH = 24;
  private static final int SHARED_WIDTH = 40;

  private final FamilyModel model;
  private final boolean reordersValueHeads;
  private final boolean fusesInputs;

  private DeltaNetFamilies(FamilyModel model, boolean isNext) {
    this.model = model;
    this.reordersValueHeads = !isNext;
    this.fusesInputs = isNext;
  }

  static FamilyModel qwen35(String name) {
    FamilyModel model = new FamilyModel(name, "qwen35", "qwen3_5_text", SIZES);
    DeltaNetFamilies family = new DeltaNetFamilies(model, false);
    family.describe();
    for (int layer = 0; layer < SIZES.layers(); layer++) {
      family.layer(layer);
      new LayerTensors(model, layer).feedForward();
    }
    model.ends();
    return model;
  }

  /** With experts whose gates and ups are one tensor in both formats. */
  static FamilyModel qwen35moe(String name) {
    FamilyModel model = new FamilyModel(name, "qwen35moe", "qwen3_5_moe_text", SIZES);
    DeltaNetFamilies family = new DeltaNetFamilies(model, false);
    family.describe();
    family.describeExperts();
    for (int layer = 0; layer < SIZES.layers(); layer++) {
      family.layer(layer);
      family.fusedExperts(layer);
      family.sharedExpert(layer);
    }
    model.ends();
    return model;
  }

  /** With separate experts; a folder has the inputs of a delta net in one tensor. */
  static FamilyModel qwen3next(String name) {
    FamilyModel model = new FamilyModel(name, "qwen3next", "qwen3_next", SIZES);
    DeltaNetFamilies family = new DeltaNetFamilies(model, true);
    family.describe();
    family.describeExperts();
    for (int layer = 0; layer < SIZES.layers(); layer++) {
      family.layer(layer);
      new LayerTensors(model, layer)
          .experts("mlp.", EXPERTS, EXPERT_WIDTH, "gate_proj", "up_proj", "down_proj");
      family.sharedExpert(layer);
    }
    model.ends();
    return model;
  }

  private void describe() {
    model.storeNormsWithout(1);
    model.headDim(SIZES.headDim());
    model.ropeBase(DenseFamilies.ROPE_BASE);
    int rotary = SIZES.headDim() / 2;
    model.putMetadata("rope.dimension_count", rotary);
    GgufValue two = GgufValue.int32(2);
    GgufValue one = GgufValue.int32(1);
    model.putMetadata(
        "rope.dimension_sections", FamilyModel.array(two, one, one, GgufValue.int32(0)));
    model.json("partial_rotary_factor", 0.5);
    model.putMetadata("full_attention_interval", INTERVAL);
    JsonArray types = new JsonArray();
    for (int layer = 0; layer < SIZES.layers(); layer++) {
      types.add(attends(layer) ? "full_attention" : "linear_attention");
    }
    model.json().add("layer_types", types);
    size("ssm.conv_kernel", "linear_conv_kernel_dim", TAPS);
    size("ssm.group_count", "linear_num_key_heads", KEY_HEADS);
    size("ssm.time_step_rank", "linear_num_value_heads", VALUE_HEADS);
    size("ssm.state_size", "linear_key_head_dim", DIM);
    model.putMetadata("ssm.inner_size", VALUES);
    model.json("linear_value_head_dim", DIM);
  }

  private void describeExperts() {
    size("expert_count", "num_experts", EXPERTS);
    // With 2, changed choices of experts hide what a bit costs (HybridFamilies.USED).
    size("expert_used_count", "num_experts_per_tok", 3);
    size("expert_feed_forward_length", "moe_intermediate_size", EXPERT_WIDTH);
    size("expert_shared_feed_forward_length", "shared_expert_intermediate_size", SHARED_WIDTH);
  }

  private void size(String key, String property, int value) {
    model.putMetadata(key, value);
    model.json(property, value);
  }

  private static boolean attends(int layer) {
    return layer % INTERVAL == INTERVAL - 1;
  }

  private void layer(int layer) {
    LayerTensors parts = new LayerTensors(model, layer);
    parts.norm("attn_norm", "input_layernorm");
    parts.norm("post_attention_norm", "post_attention_layernorm");
    if (attends(layer)) {
      parts.matrix("attn_q", "self_attn.q_proj", 1.4, 2 * SIZES.queries(), SIZES.hidden());
      parts.matrix("attn_k", "self_attn.k_proj", 1.4, SIZES.keys(), SIZES.hidden());
      parts.matrix("attn_v", "self_attn.v_proj", 1.3, SIZES.keys(), SIZES.hidden());
      parts.matrix("attn_output", "self_attn.o_proj", 2, SIZES.hidden(), SIZES.queries());
      parts.queryNorms(SIZES.headDim(), SIZES.headDim());
    } else {
      deltaNet(layer);
    }
  }

  private void deltaNet(int layer) {
    int hidden = SIZES.hidden();
    TensorValues mixed = matrix(layer, "attn_qkv", 1.2, 2 * KEYS + VALUES, hidden);
    TensorValues gate = matrix(layer, "attn_gate", 1.5, VALUES, hidden);
    TensorValues rates = matrix(layer, "ssm_beta", 1.5, VALUE_HEADS, hidden);
    TensorValues decays = matrix(layer, "ssm_alpha", 1.5, VALUE_HEADS, hidden);
    gguf(layer, "attn_qkv.weight", reordered(mixed, 2 * KEYS, DIM));
    gguf(layer, "attn_gate.weight", reordered(gate, 0, DIM));
    if (fusesInputs) {
      folder(layer, "in_proj_qkvz.weight", fused(mixed, gate));
      TensorValues both = pairs(rates, decays);
      gguf(layer, "ssm_ba.weight", both);
      folder(layer, "in_proj_ba.weight", both);
    } else {
      folder(layer, "in_proj_qkv.weight", mixed);
      folder(layer, "in_proj_z.weight", gate);
      gguf(layer, "ssm_beta.weight", reordered(rates, 0, 1));
      folder(layer, "in_proj_b.weight", rates);
      gguf(layer, "ssm_alpha.weight", reordered(decays, 0, 1));
      folder(layer, "in_proj_a.weight", decays);
    }
    TensorValues kernel = random(layer, "ssm_conv1d", 0, 0.6, 2 * KEYS + VALUES, TAPS);
    gguf(layer, "ssm_conv1d.weight", reordered(kernel, 2 * KEYS, DIM));
    folder(layer, "conv1d.weight", kernel.reshaped(2 * KEYS + VALUES, 1, TAPS));
    TensorValues bias = random(layer, "ssm_dt", -1, 0.5, VALUE_HEADS);
    gguf(layer, "ssm_dt.bias", reordered(bias, 0, 1));
    folder(layer, "dt_bias", bias);
    TensorValues logarithms = random(layer, "ssm_a", 0, 0.7, VALUE_HEADS);
    gguf(layer, "ssm_a", reordered(logarithms.mapped(x -> (float) -Math.exp(x)), 0, 1));
    folder(layer, "A_log", logarithms);
    TensorValues norm = random(layer, "ssm_norm", 1, 0.3, DIM);
    gguf(layer, "ssm_norm.weight", norm);
    folder(layer, "norm.weight", norm);
    TensorValues output = matrix(layer, "ssm_out", 1.5, hidden, VALUES);
    gguf(layer, "ssm_out.weight", reordered(output.transposed(), 0, DIM).transposed());
    folder(layer, "out_proj.weight", output);
  }

  private TensorValues matrix(int layer, String name, double gain, int... shape) {
    return model.randomMatrix(FamilyModel.gguf(layer) + name, gain, shape);
  }

  private TensorValues random(int layer, String name, double middle, double spread, int... shape) {
    return model.random(FamilyModel.gguf(layer) + name, middle, spread, shape);
  }

  private void gguf(int layer, String name, TensorValues values) {
    model.gguf(FamilyModel.gguf(layer) + name, values);
  }

  private void folder(int layer, String name, TensorValues values) {
    model.folder(FamilyModel.huggingFace(layer) + "linear_attn." + name, values);
  }

  /**
   * Reorders the rows of value heads like the conversion to GGUF: folders have the heads of a key
   * head together, files the first ones of all key heads, then the second ones.
   *
   * @param first row of the first value head
   */
  private TensorValues reordered(TensorValues values, int first, int dim) {
    if (!reordersValueHeads) {
      return values;
    }
    return values.withRows(
        values.rows(),
        row -> {
          if (row < first) {
            return row;
          }
          int head = (row - first) / dim;
          int from = head % KEY_HEADS * SHARED + head / KEY_HEADS;
          return first + from * dim + (row - first) % dim;
        });
  }

  /** Puts the query, the key, the values and the gates of each key head together. */
  private static TensorValues fused(TensorValues mixed, TensorValues gate) {
    TensorValues all = null;
    for (int head = 0; head < KEY_HEADS; head++) {
      TensorValues one =
          mixed
              .rows(head * DIM, DIM)
              .then(mixed.rows(KEYS + head * DIM, DIM))
              .then(mixed.rows(2 * KEYS + head * SHARED * DIM, SHARED * DIM))
              .then(gate.rows(head * SHARED * DIM, SHARED * DIM));
      all = all == null ? one : all.then(one);
    }
    return all;
  }

  /** Puts the rates and the decays of each key head together. */
  private static TensorValues pairs(TensorValues rates, TensorValues decays) {
    TensorValues all = null;
    for (int head = 0; head < KEY_HEADS; head++) {
      TensorValues one = rates.rows(head * SHARED, SHARED).then(decays.rows(head * SHARED, SHARED));
      all = all == null ? one : all.then(one);
    }
    return all;
  }

  private void fusedExperts(int layer) {
    LayerTensors parts = new LayerTensors(model, layer);
    parts.matrix("ffn_gate_inp", "mlp.gate", 2, EXPERTS, SIZES.hidden());
    TensorValues inputs =
        matrix(layer, "ffn_gate_up_exps", 1.5, EXPERTS, 2 * EXPERT_WIDTH, SIZES.hidden());
    TensorValues down = matrix(layer, "ffn_down_exps", 1.5, EXPERTS, SIZES.hidden(), EXPERT_WIDTH);
    gguf(layer, "ffn_gate_up_exps.weight", inputs);
    gguf(layer, "ffn_down_exps.weight", down);
    String experts = FamilyModel.huggingFace(layer) + "mlp.experts.";
    model.folder(experts + "gate_up_proj", inputs);
    model.folder(experts + "down_proj", down);
  }

  private void sharedExpert(int layer) {
    LayerTensors parts = new LayerTensors(model, layer);
    parts.gated("_shexp", "mlp.shared_expert.", SHARED_WIDTH);
    TensorValues gate = matrix(layer, "ffn_gate_inp_shexp", 1.5, 1, SIZES.hidden());
    gguf(layer, "ffn_gate_inp_shexp.weight", gate.reshaped(SIZES.hidden()));
    model.folder(FamilyModel.huggingFace(layer) + "mlp.shared_expert_gate.weight", gate);
  }
}
