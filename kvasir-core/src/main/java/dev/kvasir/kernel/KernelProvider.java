package dev.kvasir.kernel;

import java.util.Optional;

/**
 * Offers faster kernels from another module, found through {@link java.util.ServiceLoader}. They
 * compute the bits of {@link ScalarKernels}.
 */
public interface KernelProvider {
  /** What {@code -Dkvasir.kernels=} calls it. */
  String name();

  /** Why it cannot run here and what would change that, as a sentence; empty if it can. */
  Optional<String> unavailableReason();

  /** Called only where nothing is refused. */
  Kernels create();
}
