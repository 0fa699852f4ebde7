package dev.kvasir.model;

import java.util.Map;

/** Tensor names of a decoder in a file format. */
public enum TensorNames {
  GGUF("token_embd", "output_norm", "output", "blk.") {
    @Override
    String stem(Part part) {
      return part.gguf;
    }

    @Override
    Map<String, String> renamed(Architecture architecture) {
      return architecture.traits().ggufNames();
    }
  },
  HUGGING_FACE("model.embed_tokens", "model.norm", "lm_head", "model.layers.") {
    @Override
    String stem(Part part) {
      return part.huggingFace;
    }

    @Override
    Map<String, String> renamed(Architecture architecture) {
      return architecture.traits().huggingFaceNames();
    }

    @Override
    float normOffset(Architecture architecture) {
      return architecture.traits().storesNormsMinusOne() ? 1 : 0;
    }
  };

  /** Precomputed divisors of the RoPE frequencies in GGUF. */
  static final String ROPE_FACTORS = "rope_freqs.weight";

  /** Divisors of the RoPE frequencies in GGUF, for texts within and beyond the original context. */
  static final String SHORT_ROPE_FACTORS = "rope_factors_short.weight";

  static final String LONG_ROPE_FACTORS = "rope_factors_long.weight";

  /** Tensors of one layer. */
  public enum Part {
    ATTENTION_NORM("attn_norm", "input_layernorm"),
    QUERY("attn_q", "self_attn.q_proj"),
    KEY("attn_k", "self_attn.k_proj"),
    VALUE("attn_v", "self_attn.v_proj"),
    QUERY_DOWN("attn_q_a", "self_attn.q_a_proj"),
    QUERY_LATENT_NORM("attn_q_a_norm", "self_attn.q_a_layernorm"),
    QUERY_UP("attn_q_b", "self_attn.q_b_proj"),
    LATENT("attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"),
    LATENT_NORM("attn_kv_a_norm", "self_attn.kv_a_layernorm"),
    KEY_UP("attn_k_b", "self_attn.k_b_proj"),
    VALUE_UP("attn_v_b", "self_attn.v_b_proj"),
    KEY_VALUE_UP("attn_kv_b", "self_attn.kv_b_proj"),
    CONVOLUTION_IN("shortconv.in_proj", "conv.in_proj"),
    CONVOLUTION("shortconv.conv", "conv.conv"),
    CONVOLUTION_OUT("shortconv.out_proj", "conv.out_proj"),
    MAMBA_IN("ssm_in", "mamba.in_proj"),
    MAMBA_CONVOLUTION("ssm_conv1d", "mamba.conv1d"),
    MAMBA_NORM("ssm_norm", "mamba.norm"),
    MAMBA_OUT("ssm_out", "mamba.out_proj"),
    DELTA_FUSED("ssm_in", "linear_attn.in_proj_qkvz"),
    DELTA_MIXED("attn_qkv", "linear_attn.in_proj_qkv"),
    DELTA_GATE("attn_gate", "linear_attn.in_proj_z"),
    DELTA_RATES_AND_DECAYS("ssm_ba", "linear_attn.in_proj_ba"),
    DELTA_RATES("ssm_beta", "linear_attn.in_proj_b"),
    DELTA_DECAYS("ssm_alpha", "linear_attn.in_proj_a"),
    DELTA_CONVOLUTION("ssm_conv1d", "linear_attn.conv1d"),
    DELTA_NORM("ssm_norm", "linear_attn.norm"),
    DELTA_OUT("ssm_out", "linear_attn.out_proj"),
    QUERY_NORM("attn_q_norm", "self_attn.q_norm"),
    KEY_NORM("attn_k_norm", "self_attn.k_norm"),
    OUTPUT("attn_output", "self_attn.o_proj"),
    FEED_FORWARD_NORM("ffn_norm", "post_attention_layernorm"),
    ATTENTION_OUT_NORM("post_attention_norm", "post_attention_layernorm"),
    INNER_FEED_FORWARD_NORM("ffn_norm", "pre_feedforward_layernorm"),
    FEED_FORWARD_OUT_NORM("post_ffw_norm", "post_feedforward_layernorm"),
    EXPERT_NORM("pre_ffw_norm_2", "pre_feedforward_layernorm_2"),
    DENSE_OUT_NORM("post_ffw_norm_1", "post_feedforward_layernorm_1"),
    EXPERT_OUT_NORM("post_ffw_norm_2", "post_feedforward_layernorm_2"),
    INPUT_GATE("inp_gate", "per_layer_input_gate"),
    INPUT_PROJECTION("proj", "per_layer_projection"),
    INPUT_NORM("post_norm", "post_per_layer_input_norm"),
    QUERY_KEY_VALUE("attn_qkv", "self_attn.qkv_proj"),
    GATE_UP("ffn_up", "mlp.gate_up_proj"),
    GATE("ffn_gate", "mlp.gate_proj"),
    UP("ffn_up", "mlp.up_proj"),
    DOWN("ffn_down", "mlp.down_proj");

    private final String gguf;
    private final String huggingFace;

    Part(String gguf, String huggingFace) {
      this.gguf = gguf;
      this.huggingFace = huggingFace;
    }
  }

  private final String embedding;
  private final String outputNorm;
  private final String output;
  private final String layers;

  TensorNames(String embedding, String outputNorm, String output, String layers) {
    this.embedding = embedding;
    this.outputNorm = outputNorm;
    this.output = output;
    this.layers = layers;
  }

  abstract String stem(Part part);

  /** Returns the names of a family in this format that differ from those of most families. */
  abstract Map<String, String> renamed(Architecture architecture);

  /** Returns what is added to norm weights on loading; conversion to GGUF adds it already. */
  float normOffset(Architecture architecture) {
    return 0;
  }

  String embedding() {
    return embedding + ".weight";
  }

  String outputNorm() {
    return outputNorm + ".weight";
  }

  String output() {
    return output + ".weight";
  }

  /** Returns the name of the embeddings that tokens have in layers. */
  String tokenInputs() {
    return (this == GGUF ? "per_layer_token_embd" : "model.embed_tokens_per_layer") + ".weight";
  }

  /** Returns the name of the projection of embeddings to those of layers. */
  String tokenInputProjection() {
    String stem = this == GGUF ? "per_layer_model_proj" : "model.per_layer_model_projection";
    return stem + ".weight";
  }

  /** Returns the name of its norm. */
  String tokenInputNorm() {
    return (this == GGUF ? "per_layer_proj_norm" : "model.per_layer_projection_norm") + ".weight";
  }

  /** Returns the name of the factors of a router's input, in families that normalize it. */
  String routerScale(int layer) {
    return named(layer, this == GGUF ? "ffn_gate_inp.scale" : "router.scale");
  }

  /** Returns the name of the factor of a layer's output. */
  String outputScale(int layer) {
    return named(layer, this == GGUF ? "layer_output_scale.weight" : "layer_scalar");
  }

  /** Returns the name of the learned attention sinks. */
  String sinks(int layer) {
    return named(layer, this == GGUF ? "attn_sinks.weight" : "self_attn.sinks");
  }

  /** Returns the name of a vector of a Mamba layer with an entry for each head. */
  String mamba(int layer, MambaVector vector) {
    return named(layer, this == GGUF ? vector.gguf : vector.huggingFace);
  }

  /** Vectors of a Mamba layer; Hugging Face has the logarithms of decays. */
  enum MambaVector {
    STEP_BIAS("ssm_dt.bias", "mamba.dt_bias"),
    DECAY("ssm_a", "mamba.A_log"),
    SKIP("ssm_d", "mamba.D");

    private final String gguf;
    private final String huggingFace;

    MambaVector(String gguf, String huggingFace) {
      this.gguf = gguf;
      this.huggingFace = huggingFace;
    }
  }

  /** Returns the name of what is added to the decays of a delta net. */
  String decayBias(int layer) {
    return named(layer, this == GGUF ? "ssm_dt.bias" : "linear_attn.dt_bias");
  }

  /** Returns the name of the factors of a delta net's decays, as logarithms in Hugging Face. */
  String decayFactors(int layer) {
    return named(layer, this == GGUF ? "ssm_a" : "linear_attn.A_log");
  }

  /** Returns the full name of a tensor of a layer. */
  String named(int layer, String inLayer) {
    return layers + layer + "." + inLayer;
  }

  String weight(int layer, Part part) {
    return named(layer, stem(part)) + ".weight";
  }

  String bias(int layer, Part part) {
    return named(layer, stem(part)) + ".bias";
  }
}
