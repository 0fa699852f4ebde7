package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Matrix;
import java.util.Optional;

/**
 * The expert that processes every token.
 *
 * @param gate weight of its output, {@code 1 / (1 + exp(-gate x))}; empty for a weight of 1
 */
public record SharedExpert(FeedForwardWeights weights, Optional<Matrix> gate) { // gate: (1, hidden)
  /**
   * Returns its weights with gates.
   *
   * @throws InvalidInputException if it has none
   */
  public GatedWeights gated() {
    if (weights instanceof GatedWeights known) {
      return known;
    }
    throw new InvalidInputException("the shared expert of this layer has no gates");
  }

  long bytes() {
    return weights.bytes() + gate.map(Matrix::bytes).orElse(0L);
  }
}
