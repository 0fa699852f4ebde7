package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.Resources;
import java.util.List;

/**
 * Vertically stacked matrices of one width, multiplied with the same activations. Every launch asks
 * for what they have, so no answer allocates on the heap.
 */
record StackedMatrices(List<DeviceMatrix> parts) implements AutoCloseable {
  int rows() {
    int rows = 0;
    for (int i = 0; i < parts.size(); i++) {
      rows += parts.get(i).rows();
    }
    return rows;
  }

  /** Returns whether any part is in chunks, whose products take quantized activations. */
  boolean hasChunks() {
    return hasFormat(false);
  }

  /** Returns whether any part is in blocks. */
  boolean hasBlocks() {
    return hasFormat(true);
  }

  private boolean hasFormat(boolean blocked) {
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).format().isBlocked() == blocked) {
        return true;
      }
    }
    return false;
  }

  boolean hasHalves() {
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).format() == WeightFormat.HALVES) {
        return true;
      }
    }
    return false;
  }

  long bytes() {
    return parts.stream().mapToLong(DeviceMatrix::bytes).sum();
  }

  @Override
  public void close() {
    Resources.closeAll(parts.toArray(AutoCloseable[]::new));
  }
}
