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
    QUERY_NORM("attn_q_norm", "self_attn.q_norm"),
    KEY_NORM("attn_k_norm", "self_attn.k_norm"),
    OUTPUT("attn_output", "self_attn.o_proj"),
    SINKS("attn_sinks", "self_attn.sinks"),
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

  /** A tensor of a layer, by its name within it. */
  String named(int layer, String inLayer) {
    return layerPattern.formatted(layer, inLayer);
  }

  String weight(int layer, Part part) {
    return layerPattern.formatted(layer, stem(part)) + ".weight";
  }

  String bias(int layer, Part part) {
    return layerPattern.formatted(layer, stem(part)) + ".bias";
  }
}
