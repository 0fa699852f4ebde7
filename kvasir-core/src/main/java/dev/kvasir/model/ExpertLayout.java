package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import java.lang.foreign.SegmentAllocator;

/** How a file holds the matrices of a layer's experts. */
sealed interface ExpertLayout permits StackedExperts, SeparateExperts, InterleavedExperts {
  /** The matrices of an expert. */
  enum Kind {
    GATE, // (width, hidden)
    UP, // (width, hidden)
    DOWN; // (hidden, width)

    int rows(ExpertConfig experts, int hidden) {
      return this == DOWN ? hidden : experts.width();
    }

    int columns(ExpertConfig experts, int hidden) {
      return this == DOWN ? experts.width() : hidden;
    }
  }

  /** Adds the tensors of a layer to a plan. */
  void plan(TensorPlan plan, int layer);

  /**
   * A matrix of an expert.
   *
   * @param memory for what does not lie in the file as it is used
   */
  Tensor matrix(TensorPlan plan, int layer, Kind kind, int expert, SegmentAllocator memory);

  /** What is added after it, or empty. */
  float[] bias(TensorPlan plan, int layer, Kind kind, int expert);
}
