package dev.kvasir.model;

import dev.kvasir.format.Tensor;

/**
 * Names and shapes of the tensors of a layer with experts.
 *
 * @param router name stem, like the others
 * @param routerBias whether the router has a bias
 * @param correction a full name
 * @param scales a full name of the factors of the experts' outputs
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
    String scales,
    String shared,
    String sharedGate,
    ExpertLayout layout) {
  /** For names that a family does not have. */
  private static final String NONE = "none";

  static ExpertTensors of(ModelConfig config, TensorPlan plan) {
    return plan.names() == TensorNames.GGUF ? gguf(config) : huggingFace(config, plan);
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
        "ffn_down_exps.scale",
        "ffn_%s_shexp",
        "ffn_gate_inp_shexp",
        new StackedExperts(experts, experts.vectors(config.hidden()), TensorNames.GGUF, biased));
  }

  private static ExpertTensors huggingFace(ModelConfig config, TensorPlan plan) {
    TensorNames names = plan.names();
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
              NONE,
              NONE,
              NONE,
              NONE,
              new InterleavedExperts(experts, hidden, names));
      case MIXTRAL ->
          new ExpertTensors(
              experts,
              hidden,
              names,
              "block_sparse_moe.gate",
              false,
              NONE,
              NONE,
              NONE,
              NONE,
              new SeparateExperts(
                  experts, hidden, names, "block_sparse_moe.experts.", "w1", "w3", "w2"));
      case QWEN2_MOE, QWEN3_MOE, QWEN3_NEXT, QWEN35_MOE ->
          inFolder(experts, hidden, plan, "mlp.shared_expert.%s_proj");
      case LFM2_MOE ->
          new ExpertTensors(
              experts,
              hidden,
              names,
              "feed_forward.gate",
              false,
              "feed_forward.expert_bias",
              NONE,
              NONE,
              NONE,
              new SeparateExperts(
                  experts, hidden, names, "feed_forward.experts.", "w1", "w3", "w2"));
      case GRANITE_HYBRID ->
          new ExpertTensors(
              experts,
              hidden,
              names,
              "block_sparse_moe.router.layer",
              false,
              NONE,
              NONE,
              "shared_mlp.%s_linear",
              NONE,
              new StackedExperts(
                  experts,
                  hidden,
                  names,
                  false,
                  "block_sparse_moe.input_linear.weight",
                  "block_sparse_moe.output_linear.weight"));
      case GEMMA4 ->
          new ExpertTensors(
              experts,
              hidden,
              names,
              "router.proj",
              false,
              NONE,
              "router.per_expert_scale",
              NONE,
              NONE,
              new StackedExperts(experts, hidden, names, false));
      default -> inFolder(experts, hidden, plan, "mlp.shared_experts.%s_proj");
    };
  }

  /** Returns the tensors under the names of most families, in either layout. */
  private static ExpertTensors inFolder(
      ExpertConfig experts, int hidden, TensorPlan plan, String shared) {
    TensorNames names = plan.names();
    int width = experts.vectors(hidden);
    StackedExperts stacked = new StackedExperts(experts, width, names, false);
    return new ExpertTensors(
        experts,
        hidden,
        names,
        "mlp.gate",
        false,
        "mlp.gate.e_score_correction_bias",
        NONE,
        shared,
        "mlp.shared_expert_gate",
        stacked.isIn(plan, experts.leadingDense())
            ? stacked
            : new SeparateExperts(
                experts, width, names, "mlp.experts.", "gate_proj", "up_proj", "down_proj"));
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
    plan.addOptional(names.named(layer, scales), experts.count());
    layout.plan(plan, layer);
    if (experts.sharedWidth() > 0) {
      planShared(plan, layer);
    }
    if (experts.latent() > 0) {
      plan.addRequired(weight(layer, latentDown()), experts.latent(), hidden);
      plan.addRequired(weight(layer, latentUp()), hidden, experts.latent());
    }
    if (experts.sharedGate()) {
      plan.addRequired(weight(layer, sharedGate), sharedGateShape(plan, layer));
    }
  }

  private void planShared(TensorPlan plan, int layer) {
    int width = experts.sharedWidth();
    if (fusesShared()) {
      plan.addRequired(weight(layer, shared.formatted("input")), 2L * width, hidden);
      plan.addRequired(weight(layer, shared.formatted("output")), hidden, width);
      return;
    }
    if (experts.activation().isGated()) {
      plan.addRequired(weight(layer, shared.formatted("gate")), width, hidden);
    }
    plan.addRequired(weight(layer, shared.formatted("up")), width, hidden);
    plan.addRequired(weight(layer, shared.formatted("down")), hidden, width);
  }

  /** Returns whether the gates and ups of the shared expert are the halves of one tensor. */
  private boolean fusesShared() {
    return shared.endsWith("_linear");
  }

  /**
   * Returns a matrix of the shared expert.
   *
   * @param which {@code gate}, {@code up} or {@code down}
   */
  Tensor sharedMatrix(TensorPlan plan, int layer, String which) {
    if (!fusesShared()) {
      return plan.require(weight(layer, shared.formatted(which)));
    }
    if (which.equals("down")) {
      return plan.require(weight(layer, shared.formatted("output")));
    }
    int from = which.equals("gate") ? 0 : experts.sharedWidth();
    return plan.require(weight(layer, shared.formatted("input")))
        .rows(from, from + experts.sharedWidth());
  }

  /** Returns the shape of the shared gate, a row that quantized GGUF files store as a vector. */
  private long[] sharedGateShape(TensorPlan plan, int layer) {
    boolean isVector =
        names == TensorNames.GGUF && plan.dimensions(weight(layer, sharedGate)).orElse(1) == 1;
    return isVector ? new long[] {hidden} : new long[] {1, hidden};
  }

  /** Returns the stem of the projection to the vectors that routed experts read. */
  String latentDown() {
    return names == TensorNames.GGUF ? "ffn_latent_down" : "mlp.fc1_latent_proj";
  }

  /** Returns the stem of the projection of what routed experts write. */
  String latentUp() {
    return names == TensorNames.GGUF ? "ffn_latent_up" : "mlp.fc2_latent_proj";
  }

  String weight(int layer, String stem) {
    return names.named(layer, stem) + ".weight";
  }

  String bias(int layer, String stem) {
    return names.named(layer, stem) + ".bias";
  }
}
