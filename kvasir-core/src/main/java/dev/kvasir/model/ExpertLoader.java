package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.model.ExpertLayout.Kind;
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
    List<GatedWeights> experts = new ArrayList<>();
    for (int expert = 0; expert < sizes.count(); expert++) {
      experts.add(
          new GatedWeights(
              projection(layer, Kind.GATE, expert),
              projection(layer, Kind.UP, expert),
              projection(layer, Kind.DOWN, expert),
              sizes.activation()));
    }
    return new ExpertWeights(
        router,
        plan.find(tensors.names().named(layer, tensors.correction()))
            .map(Tensor::toFloats)
            .orElse(ExpertWeights.NO_CORRECTION),
        List.copyOf(experts),
        sizes.sharedWidth() == 0 ? Optional.empty() : Optional.of(shared(layer)));
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
    GatedWeights weights =
        new GatedWeights(
            shared(layer, "gate"),
            shared(layer, "up"),
            shared(layer, "down"),
            tensors.experts().activation());
    return new SharedExpert(
        weights,
        tensors.experts().sharedGate() ? Optional.of(sharedGate(layer)) : Optional.empty());
  }

  private Projection shared(int layer, String which) {
    return new Projection(matrix(layer, tensors.shared().formatted(which)), Projection.NO_BIAS);
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
