package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.Resources;
import java.util.stream.Stream;

/**
 * The expert of a layer that all rows use, a dense feed-forward layer.
 *
 * @param gateAndUp // (2 * width, hidden)
 * @param down // (hidden, width)
 */
record SharedExpert(StackedMatrices gateAndUp, StackedMatrices down) implements AutoCloseable {
  Stream<StackedMatrices> matrices() {
    return Stream.of(gateAndUp, down);
  }

  @Override
  public void close() {
    Resources.closeAll(gateAndUp, down);
  }
}
