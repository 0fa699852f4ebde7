package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.model.ExpertLayout.Kind;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The tensors of routed experts, for engines that compute them on a device: the router (experts,
 * hidden), and of each expert and the shared one a gate and an up matrix (width, hidden) and a down
 * matrix (hidden, width), however the file stores them.
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
   * Fails if a layer has factors of the experts' outputs.
   *
   * @param who the caller, for the error message
   */
  public void requireUnscaled(int layer, String who) {
    optional(layer, tensors.scales())
        .ifPresent(
            found -> {
              throw new InvalidInputException(
                  "%s: has a tensor '%s'; %s requires experts without factors"
                      .formatted(plan.fileName(), found.name(), who));
            });
  }

  private Optional<Tensor> optional(int layer, String stem) {
    String name = tensors.names().named(layer, stem);
    return plan.contains(name) ? plan.find(name) : Optional.empty();
  }

  /** Returns what is added to the experts' scores for their choice alone. */
  public Optional<Tensor> correction(int layer) {
    return optional(layer, tensors.correction());
  }

  /** Returns the bias of the router. */
  public Optional<Tensor> routerBias(int layer) {
    return tensors.routerBias()
        ? Optional.of(plan.require(tensors.bias(layer, tensors.router())))
        : Optional.empty();
  }

  /** Returns the gate and the up matrix of the shared expert, which the model must have. */
  public List<Tensor> sharedGateAndUp(int layer) {
    return List.of(
        tensors.sharedMatrix(plan, layer, "gate"), tensors.sharedMatrix(plan, layer, "up"));
  }

  /** Returns the down matrix of the shared expert, which the model must have. */
  public Tensor sharedDown(int layer) {
    return tensors.sharedMatrix(plan, layer, "down");
  }

  /** Returns the row of weights of the shared expert's gate. */
  public Optional<Tensor> sharedGate(int layer) {
    return tensors.experts().sharedGate()
        ? Optional.of(plan.require(tensors.weight(layer, tensors.sharedGate())))
        : Optional.empty();
  }

  /** Returns the biases of an expert's gate and up matrices, concatenated; empty without them. */
  public float[] gateAndUpBias(int layer, int expert) {
    float[] gate = tensors.layout().bias(plan, layer, Kind.GATE, expert);
    float[] up = tensors.layout().bias(plan, layer, Kind.UP, expert);
    float[] both = Arrays.copyOf(gate, gate.length + up.length);
    System.arraycopy(up, 0, both, gate.length, up.length);
    return both;
  }

  /** Returns the bias of an expert's down matrix; empty without one. */
  public float[] downBias(int layer, int expert) {
    return tensors.layout().bias(plan, layer, Kind.DOWN, expert);
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
