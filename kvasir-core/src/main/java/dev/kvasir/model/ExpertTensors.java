package dev.kvasir.model;

/**
 * Names and shapes of the tensors of a layer with experts.
 *
 * @param router name stem, like the others
 * @param routerBias whether the router has a bias
 * @param correction a full name
 * @param shared a stem with a placeholder for {@code gate}, {@code up} or {@code down}
 * @param layout how the file stores the experts
 */
record ExpertTensors(
    ExpertConfig experts,
    int hidden,
    TensorNames names,
    String router,
    boolean routerBias,
    String correction,
    String shared,
    String sharedGate,
    ExpertLayout layout) {
  static ExpertTensors of(ModelConfig config, TensorNames names) {
    return names == TensorNames.GGUF ? gguf(config) : huggingFace(config, names);
  }

  private static ExpertTensors gguf(ModelConfig config) {
    ExpertConfig experts = config.experts().orElseThrow();
    boolean biased = config.architecture() == Architecture.GPT_OSS;
    return new ExpertTensors(
        experts,
        config.hidden(),
        TensorNames.GGUF,
        "ffn_gate_inp",
        biased,
        "exp_probs_b.bias",
        "ffn_%s_shexp",
        "ffn_gate_inp_shexp",
        new StackedExperts(experts, config.hidden(), TensorNames.GGUF, biased));
  }

  private static ExpertTensors huggingFace(ModelConfig config, TensorNames names) {
    ExpertConfig experts = config.experts().orElseThrow();
    int hidden = config.hidden();
    return switch (config.architecture()) {
      case GPT_OSS ->
          new ExpertTensors(
              experts,
              hidden,
              names,
              "mlp.router",
              true,
              "none",
              "none",
              "none",
              new InterleavedExperts(experts, hidden, names));
      case MIXTRAL ->
          new ExpertTensors(
              experts,
              hidden,
              names,
              "block_sparse_moe.gate",
              false,
              "none",
              "none",
              "none",
              new SeparateExperts(
                  experts, hidden, names, "block_sparse_moe.experts.", "w1", "w3", "w2"));
      case QWEN2_MOE, QWEN3_MOE, QWEN3_NEXT ->
          inFolder(experts, hidden, names, "mlp.shared_expert.%s_proj");
      case QWEN35_MOE ->
          inFolder(experts, hidden, names, "mlp.shared_expert.%s_proj")
              .with(new StackedExperts(experts, hidden, names, false));
      default -> inFolder(experts, hidden, names, "mlp.shared_experts.%s_proj");
    };
  }

  private static ExpertTensors inFolder(
      ExpertConfig experts, int hidden, TensorNames names, String shared) {
    return new ExpertTensors(
        experts,
        hidden,
        names,
        "mlp.gate",
        false,
        "mlp.gate.e_score_correction_bias",
        shared,
        "mlp.shared_expert_gate",
        new SeparateExperts(
            experts, hidden, names, "mlp.experts.", "gate_proj", "up_proj", "down_proj"));
  }

  private ExpertTensors with(ExpertLayout other) {
    return new ExpertTensors(
        experts, hidden, names, router, routerBias, correction, shared, sharedGate, other);
  }

  /**
   * Adds the tensors of a layer to a plan. If the file has no router, nothing else is added: the
   * names of a thousand experts in a million missing layers would fill the memory.
   */
  void plan(TensorPlan plan, int layer) {
    plan.addRequired(weight(layer, router), experts.count(), hidden);
    if (!plan.hasTensor(weight(layer, router))) {
      return;
    }
    if (routerBias) {
      plan.addRequired(bias(layer, router), experts.count());
    }
    plan.addOptional(names.named(layer, correction), experts.count());
    layout.plan(plan, layer);
    if (experts.sharedWidth() > 0) {
      plan.addRequired(weight(layer, shared.formatted("gate")), experts.sharedWidth(), hidden);
      plan.addRequired(weight(layer, shared.formatted("up")), experts.sharedWidth(), hidden);
      plan.addRequired(weight(layer, shared.formatted("down")), hidden, experts.sharedWidth());
    }
    if (experts.sharedGate()) {
      plan.addRequired(weight(layer, sharedGate), sharedGateShape(plan, layer));
    }
  }

  /** Returns the shape of the shared gate, a row that quantized GGUF files store as a vector. */
  private long[] sharedGateShape(TensorPlan plan, int layer) {
    boolean isVector =
        names == TensorNames.GGUF && plan.dimensions(weight(layer, sharedGate)).orElse(1) == 1;
    return isVector ? new long[] {hidden} : new long[] {1, hidden};
  }

  String weight(int layer, String stem) {
    return names.named(layer, stem) + ".weight";
  }

  String bias(int layer, String stem) {
    return names.named(layer, stem) + ".bias";
  }
}
