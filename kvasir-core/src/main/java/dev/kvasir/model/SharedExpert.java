package dev.kvasir.model;

import dev.kvasir.kernel.Matrix;
import java.util.Optional;

/**
 * The expert that every token has.
 *
 * @param gate how much of it counts, {@code 1 / (1 + exp(-gate x))}; absent for all of it
 */
public record SharedExpert(GatedWeights weights, Optional<Matrix> gate) { // gate: (1, hidden)
  long bytes() {
    return weights.bytes() + gate.map(Matrix::bytes).orElse(0L);
  }
}
