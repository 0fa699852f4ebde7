package dev.kvasir.model;

/** Tensor names of a decoder in a file format. */
enum TensorNames {
  GGUF("token_embd", "output_norm", "output", "blk.") {
    @Override
    String stem(Part part) {
      return part.gguf;
    }
  },
  HUGGING_FACE("model.embed_tokens", "model.norm", "lm_head", "model.layers.") {
    @Override
    String stem(Part part) {
      return part.huggingFace;
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
  enum Part {
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
    QUERY_NORM("attn_q_norm", "self_attn.q_norm"),
    KEY_NORM("attn_k_norm", "self_attn.k_norm"),
    OUTPUT("attn_output", "self_attn.o_proj"),
    FEED_FORWARD_NORM("ffn_norm", "post_attention_layernorm"),
    ATTENTION_OUT_NORM("post_attention_norm", "post_attention_layernorm"),
    INNER_FEED_FORWARD_NORM("ffn_norm", "pre_feedforward_layernorm"),
    FEED_FORWARD_OUT_NORM("post_ffw_norm", "post_feedforward_layernorm"),
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

  /** Returns the name of the learned attention sinks. */
  String sinks(int layer) {
    return named(layer, this == GGUF ? "attn_sinks.weight" : "self_attn.sinks");
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
