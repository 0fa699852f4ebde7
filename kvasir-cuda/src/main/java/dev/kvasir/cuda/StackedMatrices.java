package dev.kvasir.cuda;

import java.util.List;

/** Matrices of one width, one below the other, that the same rows are multiplied with. */
record StackedMatrices(List<DeviceMatrix> parts) implements AutoCloseable {
  /** Outputs of all. */
  int rows() {
    return parts.stream().mapToInt(DeviceMatrix::rows).sum();
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
