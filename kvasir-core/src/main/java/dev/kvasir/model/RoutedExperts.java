package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.model.ExpertLayout.Kind;
import java.lang.foreign.SegmentAllocator;
import java.util.List;

/**
 * The tensors of routed experts, for engines that compute them on a device: the router (experts,
 * hidden), and of each expert a gate and an up matrix (width, hidden) and a down matrix (hidden,
 * width), however the file stores them.
 */
public final class RoutedExperts {
  private final ExpertTensors tensors;
  private final TensorPlan plan;

  private RoutedExperts(ExpertTensors tensors, TensorPlan plan) {
    this.tensors = tensors;
    this.plan = plan;
  }

  /** Returns the experts of a model that has some. */
  public static RoutedExperts of(ModelConfig config, TensorPlan plan) {
    return new RoutedExperts(ExpertTensors.of(config, plan), plan);
  }

  /**
   * Fails if a layer has a correction of the router's scores or factors of the experts' outputs.
   *
   * @param who the caller, for the error message
   */
  public void requirePlain(int layer, String who) {
    TensorNames names = tensors.names();
    for (String stem : List.of(tensors.correction(), tensors.scales())) {
      String name = names.named(layer, stem);
      if (plan.contains(name) && plan.find(name).isPresent()) {
        throw new InvalidInputException(
            "%s: has a tensor '%s'; %s requires experts without factors and corrections"
                .formatted(plan.fileName(), name, who));
      }
    }
  }

  public Tensor router(int layer) {
    return plan.require(tensors.weight(layer, tensors.router()));
  }

  /**
   * Returns the gate matrix of an expert.
   *
   * @param memory memory for matrices that the file does not store as rows of their own
   */
  public Tensor gate(int layer, int expert, SegmentAllocator memory) {
    return matrix(layer, Kind.GATE, expert, memory);
  }

  /** Returns the up matrix of an expert, as {@link #gate} does. */
  public Tensor up(int layer, int expert, SegmentAllocator memory) {
    return matrix(layer, Kind.UP, expert, memory);
  }

  /** Returns the down matrix of an expert, as {@link #gate} does. */
  public Tensor down(int layer, int expert, SegmentAllocator memory) {
    return matrix(layer, Kind.DOWN, expert, memory);
  }

  private Tensor matrix(int layer, Kind kind, int expert, SegmentAllocator memory) {
    return tensors.layout().matrix(plan, layer, kind, expert, memory);
  }
}
