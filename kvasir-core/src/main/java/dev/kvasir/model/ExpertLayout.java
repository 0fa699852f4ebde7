package dev.kvasir.model;

import dev.kvasir.format.Tensor;
import java.lang.foreign.SegmentAllocator;

/** How a file stores the matrices of a layer's experts. */
sealed interface ExpertLayout permits StackedExperts, SeparateExperts, InterleavedExperts {
  /** The matrices of an expert. One without gates has no {@code GATE}. */
  enum Kind {
    GATE, // (width, hidden)
    UP, // (width, hidden)
    DOWN; // (hidden, width)

    boolean isIn(ExpertConfig experts) {
      return this != GATE || experts.activation().isGated();
    }

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
   * Returns a matrix of an expert.
   *
   * @param memory memory for matrices that cannot be used in place
   */
  Tensor matrix(TensorPlan plan, int layer, Kind kind, int expert, SegmentAllocator memory);

  /** Returns the bias of a matrix; may be empty. */
  float[] bias(TensorPlan plan, int layer, Kind kind, int expert);
}
