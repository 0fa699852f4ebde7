package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.Resources;
import java.util.List;

/** Vertically stacked matrices of one width, multiplied with the same activations. */
record StackedMatrices(List<DeviceMatrix> parts) implements AutoCloseable {
  int rows() {
    return parts.stream().mapToInt(DeviceMatrix::rows).sum();
  }

  /** Returns whether any part is in chunks, whose products take quantized activations. */
  boolean hasChunks() {
    return parts.stream().anyMatch(part -> !part.format().isBlocked());
  }

  /** Returns whether any part is in blocks. */
  boolean hasBlocks() {
    return parts.stream().anyMatch(part -> part.format().isBlocked());
  }

  boolean hasHalves() {
    return parts.stream().anyMatch(part -> part.format() == WeightFormat.HALVES);
  }

  long bytes() {
    return parts.stream().mapToLong(DeviceMatrix::bytes).sum();
  }

  @Override
  public void close() {
    Resources.closeAll(parts.toArray(AutoCloseable[]::new));
  }
}
