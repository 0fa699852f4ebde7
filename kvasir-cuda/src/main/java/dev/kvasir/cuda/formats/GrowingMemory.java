package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import java.util.ArrayList;
import java.util.List;

/** Device memory that grows. Smaller memory stays allocated, because captured graphs use it. */
public final class GrowingMemory implements AutoCloseable {
  private final CudaContext context;
  private final List<AutoCloseable> allocated = new ArrayList<>();
  private DeviceMemory largest; // null until first needed

  public GrowingMemory(CudaContext context) {
    this.context = context;
  }

  public void ensureCapacity(long bytes) {
    if (largest == null || largest.bytes() < bytes) {
      largest = context.allocate(Long.highestOneBit(bytes) << 1);
      allocated.add(largest);
    }
  }

  /** Returns the address of the largest memory; 0 if there is none. */
  public long address() {
    return largest == null ? 0 : largest.address();
  }

  @Override
  public void close() {
    Resources.closeAll(allocated);
  }
}
