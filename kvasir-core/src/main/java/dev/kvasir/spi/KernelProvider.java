package dev.kvasir.spi;

import dev.kvasir.kernel.Kernels;
import java.util.Optional;

/**
 * A provider of faster kernels in another module, found through {@link java.util.ServiceLoader}.
 * Its kernels compute the same bits as {@link dev.kvasir.kernel.ScalarKernels}.
 */
public interface KernelProvider {
  /** Returns the name that {@code -Dkvasir.kernels=} selects it by. */
  String name();

  /**
   * Returns a sentence that says why the kernels cannot run here and how to change that, or empty
   * if they can run.
   */
  Optional<String> unavailableReason();

  /** Creates the kernels; called only if {@link #unavailableReason} is empty. */
  Kernels create();
}
