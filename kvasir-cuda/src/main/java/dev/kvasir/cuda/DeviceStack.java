package dev.kvasir.cuda;

import java.util.List;

/** Matrices of one width, one below the other, that the same rows are multiplied with. */
record DeviceStack(List<DeviceMatrix> parts) implements AutoCloseable {
  /** Outputs of all. */
  int rows() {
    return parts.stream().mapToInt(DeviceMatrix::rows).sum();
  }

  boolean hasHalves() {
    return parts.stream().anyMatch(part -> part.kind() == WeightKind.HALVES);
  }

  long bytes() {
    return parts.stream().mapToLong(DeviceMatrix::bytes).sum();
  }

  @Override
  public void close() {
    Closing.all(parts.toArray(AutoCloseable[]::new));
  }
}
