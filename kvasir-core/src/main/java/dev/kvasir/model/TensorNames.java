package dev.kvasir.model;

/** What a file format calls the tensors of a decoder. */
enum TensorNames {
  GGUF("token_embd", "output_norm", "output", "blk.%d.%s") {
    @Override
    String stem(Part part) {
      return part.gguf;
    }
  },
  HUGGING_FACE("model.embed_tokens", "model.norm", "lm_head", "model.layers.%d.%s") {
    @Override
    String stem(Part part) {
      return part.huggingFace;
    }
  };

  /** GGUF's worked-out divisors of the rotary frequencies. */
  static final String ROPE_FACTORS = "rope_freqs.weight";

  /** The tensors of one layer. */
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
  private final String layerPattern;

  TensorNames(String embedding, String outputNorm, String output, String layerPattern) {
    this.embedding = embedding;
    this.outputNorm = outputNorm;
    this.output = output;
    this.layerPattern = layerPattern;
  }

  abstract String stem(Part part);

  String embedding() {
    return embedding + ".weight";
  }

  String outputNorm() {
    return outputNorm + ".weight";
  }

  String output() {
    return output + ".weight";
  }

  String weight(int layer, Part part) {
    return layerPattern.formatted(layer, stem(part)) + ".weight";
  }

  String bias(int layer, Part part) {
    return layerPattern.formatted(layer, stem(part)) + ".bias";
  }
}
