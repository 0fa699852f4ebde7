package dev.kvasir.model;

/**
 * What files call the tensors of a layer's experts, within the layer.
 *
 * @param correction the whole name; others lack {@code .weight} and {@code .bias}
 * @param gate of all experts as one tensor, or with a place for the number of one
 * @param shared what the names of the shared expert's matrices begin and end with, around {@code
 *     gate}, {@code up} and {@code down}
 */
record ExpertNames(
    String router,
    String correction,
    String gate,
    String up,
    String down,
    String shared,
    String sharedGate) {
  private static final String ONE = "%d";

  static final ExpertNames GGUF =
      new ExpertNames(
          "ffn_gate_inp",
          "exp_probs_b.bias",
          "ffn_gate_exps",
          "ffn_up_exps",
          "ffn_down_exps",
          "ffn_%s_shexp",
          "ffn_gate_inp_shexp");

  private static final ExpertNames QWEN = huggingFace("mlp.shared_expert.%s_proj");

  private static final ExpertNames DEEPSEEK = huggingFace("mlp.shared_experts.%s_proj");

  private static final ExpertNames MIXTRAL =
      new ExpertNames(
          "block_sparse_moe.gate",
          "none",
          "block_sparse_moe.experts.%d.w1",
          "block_sparse_moe.experts.%d.w3",
          "block_sparse_moe.experts.%d.w2",
          "none",
          "none");

  private static ExpertNames huggingFace(String shared) {
    return new ExpertNames(
        "mlp.gate",
        "mlp.gate.e_score_correction_bias",
        "mlp.experts.%d.gate_proj",
        "mlp.experts.%d.up_proj",
        "mlp.experts.%d.down_proj",
        shared,
        "mlp.shared_expert_gate");
  }

  static ExpertNames of(TensorNames format, Architecture architecture) {
    if (format == TensorNames.GGUF) {
      return GGUF;
    }
    return switch (architecture) {
      case MIXTRAL -> MIXTRAL;
      case QWEN2_MOE, QWEN3_MOE -> QWEN;
      default -> DEEPSEEK;
    };
  }

  /** Whether every expert has tensors of its own. */
  boolean areApart() {
    return gate.contains(ONE);
  }
}
