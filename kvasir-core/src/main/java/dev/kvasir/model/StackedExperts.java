package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import java.lang.foreign.SegmentAllocator;

/** Expert matrices stacked in one tensor per kind, as in GGUF files. */
record StackedExperts(ExpertConfig experts, int hidden, TensorNames names, boolean biased)
    implements ExpertLayout {
  @Override
  public void plan(TensorPlan plan, int layer) {
    for (Kind kind : Kind.values()) {
      int rows = kind.rows(experts, hidden);
      plan.addRequired(weight(layer, kind), experts.count(), rows, kind.columns(experts, hidden));
      if (biased) {
        plan.addRequiredFloats(biasName(layer, kind), experts.count(), rows);
      }
    }
  }

  @Override
  public Tensor matrix(TensorPlan plan, int layer, Kind kind, int expert, SegmentAllocator memory) {
    return plan.require(weight(layer, kind)).part(expert);
  }

  @Override
  public float[] bias(TensorPlan plan, int layer, Kind kind, int expert) {
    return biased
        ? plan.require(biasName(layer, kind)).part(expert).toFloats()
        : Projection.NO_BIAS;
  }

  private String weight(int layer, Kind kind) {
    return names.named(layer, stem(kind)) + ".weight";
  }

  private String biasName(int layer, Kind kind) {
    return names.named(layer, stem(kind)) + ".bias";
  }

  private static String stem(Kind kind) {
    return switch (kind) {
      case GATE -> "ffn_gate_exps";
      case UP -> "ffn_up_exps";
      case DOWN -> "ffn_down_exps";
    };
  }
}
