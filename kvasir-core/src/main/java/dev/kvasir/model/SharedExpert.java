package dev.kvasir.model;

import dev.kvasir.kernel.Matrix;
import java.util.Optional;

/**
 * The expert that processes every token.
 *
 * @param gate weight of its output, {@code 1 / (1 + exp(-gate x))}; empty for a weight of 1
 */
public record SharedExpert(GatedWeights weights, Optional<Matrix> gate) { // gate: (1, hidden)
  long bytes() {
    return weights.bytes() + gate.map(Matrix::bytes).orElse(0L);
  }
}
