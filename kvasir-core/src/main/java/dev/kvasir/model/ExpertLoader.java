package dev.kvasir.model;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.model.ExpertLayout.Kind;
import dev.kvasir.model.ExpertWeights.LatentVectors;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Loads the experts of a layer from a file.
 *
 * @param matrices creates a matrix from a tensor
 * @param memory memory for matrices that cannot be used in place
 */
record ExpertLoader(
    ExpertTensors tensors,
    TensorPlan plan,
    Function<Tensor, Matrix> matrices,
    SegmentAllocator memory) {
  ExpertWeights load(int layer) {
    ExpertConfig sizes = tensors.experts();
    Projection router = router(layer); // first, since a plan without it has no other expert tensors
    List<FeedForwardWeights> experts = new ArrayList<>();
    for (int expert = 0; expert < sizes.count(); expert++) {
      Projection up = projection(layer, Kind.UP, expert);
      Projection down = projection(layer, Kind.DOWN, expert);
      experts.add(
          sizes.activation().isGated()
              ? new GatedWeights(projection(layer, Kind.GATE, expert), up, down, sizes.activation())
              : new UngatedWeights(up, down));
    }
    return new ExpertWeights(
        router,
        vector(layer, tensors.correction()),
        scales(layer),
        List.copyOf(experts),
        sizes.sharedWidth() == 0 ? Optional.empty() : Optional.of(shared(layer)),
        sizes.latent() == 0 ? Optional.empty() : Optional.of(latent(layer)));
  }

  private LatentVectors latent(int layer) {
    return new LatentVectors(
        matrix(layer, tensors.latentDown()), matrix(layer, tensors.latentUp()));
  }

  /** Returns the scales of the experts' outputs, unless the weights of this type contain them. */
  private float[] scales(int layer) {
    boolean inWeights =
        plan.find(tensors.names().named(layer, "ffn_down_exps.weight"))
            .filter(weights -> weights.type() == GgmlType.NVFP4)
            .isPresent();
    return inWeights ? ExpertWeights.NONE : vector(layer, tensors.scales());
  }

  private float[] vector(int layer, String name) {
    return plan.find(tensors.names().named(layer, name))
        .map(Tensor::toFloats)
        .orElse(ExpertWeights.NONE);
  }

  private Projection projection(int layer, Kind kind, int expert) {
    ExpertLayout layout = tensors.layout();
    return new Projection(
        matrices.apply(layout.matrix(plan, layer, kind, expert, memory)),
        layout.bias(plan, layer, kind, expert));
  }

  private Projection router(int layer) {
    String stem = tensors.router();
    return new Projection(
        matrix(layer, stem),
        tensors.routerBias()
            ? plan.require(tensors.bias(layer, stem)).toFloats()
            : Projection.NO_BIAS);
  }

  private SharedExpert shared(int layer) {
    Activation activation = tensors.experts().activation();
    Projection up = shared(layer, "up");
    Projection down = shared(layer, "down");
    FeedForwardWeights weights =
        activation.isGated()
            ? new GatedWeights(shared(layer, "gate"), up, down, activation)
            : new UngatedWeights(up, down);
    return new SharedExpert(
        weights,
        tensors.experts().sharedGate() ? Optional.of(sharedGate(layer)) : Optional.empty());
  }

  private Projection shared(int layer, String which) {
    return new Projection(
        matrices.apply(tensors.sharedMatrix(plan, layer, which)), Projection.NO_BIAS);
  }

  private Matrix sharedGate(int layer) {
    Tensor tensor = plan.require(tensors.weight(layer, tensors.sharedGate()));
    long[] shape = {1, tensor.values()};
    return matrices.apply(new Tensor(tensor.name(), tensor.type(), shape, tensor.data()));
  }

  private Matrix matrix(int layer, String stem) {
    return matrices.apply(plan.require(tensors.weight(layer, stem)));
  }
}
