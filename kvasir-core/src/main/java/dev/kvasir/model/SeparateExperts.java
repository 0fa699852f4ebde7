package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import java.lang.foreign.SegmentAllocator;

/**
 * Expert matrices in a tensor per expert, as in most Hugging Face folders.
 *
 * @param folder prefix of names, before the expert's number
 */
record SeparateExperts(
    ExpertConfig experts,
    int hidden,
    TensorNames names,
    String folder,
    String gate,
    String up,
    String down)
    implements ExpertLayout {
  @Override
  public void plan(TensorPlan plan, int layer) {
    for (int expert = 0; expert < experts.count(); expert++) {
      for (Kind kind : Kind.values()) {
        if (kind.isIn(experts)) {
          plan.addRequired(
              weight(layer, kind, expert),
              kind.rows(experts, hidden),
              kind.columns(experts, hidden));
        }
      }
    }
  }

  @Override
  public Tensor matrix(TensorPlan plan, int layer, Kind kind, int expert, SegmentAllocator memory) {
    return plan.require(weight(layer, kind, expert));
  }

  @Override
  public float[] bias(TensorPlan plan, int layer, Kind kind, int expert) {
    return Projection.NO_BIAS;
  }

  private String weight(int layer, Kind kind, int expert) {
    return names.named(layer, "%s%d.%s.weight".formatted(folder, expert, stem(kind)));
  }

  private String stem(Kind kind) {
    return switch (kind) {
      case GATE -> gate;
      case UP -> up;
      case DOWN -> down;
    };
  }
}
