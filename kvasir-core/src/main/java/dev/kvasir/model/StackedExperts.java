package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import java.lang.foreign.SegmentAllocator;

/**
 * Expert matrices stacked in one tensor per kind, as in GGUF files. Gate and up may be the halves
 * of one tensor, as they always are in folders.
 *
 * @param folderGatesAndUps full name of both in a folder
 * @param folderDowns full name in a folder
 */
record StackedExperts(
    ExpertConfig experts,
    int hidden,
    TensorNames names,
    boolean biased,
    String folderGatesAndUps,
    String folderDowns)
    implements ExpertLayout {
  /** Experts under the names of most families. */
  StackedExperts(ExpertConfig experts, int hidden, TensorNames names, boolean biased) {
    this(experts, hidden, names, biased, "mlp.experts.gate_up_proj", "mlp.experts.down_proj");
  }

  /** Returns whether a file has the experts of a layer in this layout. */
  boolean isIn(TensorPlan plan, int layer) {
    return plan.hasTensor(weight(layer, Kind.DOWN));
  }

  @Override
  public void plan(TensorPlan plan, int layer) {
    for (Kind kind : Kind.values()) {
      if (!kind.isIn(experts)) {
        continue;
      }
      if (kind != Kind.DOWN && isFused(plan, layer)) {
        plan.addRequired(fused(layer), experts.count(), 2L * experts.width(), hidden);
        continue;
      }
      int rows = kind.rows(experts, hidden);
      plan.addRequired(weight(layer, kind), experts.count(), rows, kind.columns(experts, hidden));
      if (biased) {
        plan.addRequiredFloats(biasName(layer, kind), experts.count(), rows);
      }
    }
  }

  @Override
  public Tensor matrix(TensorPlan plan, int layer, Kind kind, int expert, SegmentAllocator memory) {
    if (kind == Kind.DOWN || !isFused(plan, layer)) {
      return plan.require(weight(layer, kind)).part(expert);
    }
    int from = kind == Kind.GATE ? 0 : experts.width();
    return plan.require(fused(layer)).part(expert).rows(from, from + experts.width());
  }

  /** Returns whether gates and ups are one tensor; files with biases have them apart. */
  private boolean isFused(TensorPlan plan, int layer) {
    return !biased && plan.hasTensor(fused(layer));
  }

  private String fused(int layer) {
    return names.named(layer, isGguf() ? "ffn_gate_up_exps.weight" : folderGatesAndUps);
  }

  private boolean isGguf() {
    return names == TensorNames.GGUF;
  }

  @Override
  public float[] bias(TensorPlan plan, int layer, Kind kind, int expert) {
    return biased
        ? plan.require(biasName(layer, kind)).part(expert).toFloats()
        : Projection.NO_BIAS;
  }

  private String weight(int layer, Kind kind) {
    return isGguf()
        ? names.named(layer, stem(kind)) + ".weight"
        : names.named(layer, kind == Kind.DOWN ? folderDowns : folderGatesAndUps);
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
