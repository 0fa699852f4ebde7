package dev.kvasir.kernel;

import java.util.Optional;

/**
 * Offers an implementation of {@link Kernels} from another module, found through {@link
 * java.util.ServiceLoader}. Answering {@link #refusal()} must not touch a class that may be absent.
 */
public interface KernelProvider {
  /** What {@code -Dkvasir.kernels=} calls it. */
  String name();

  /** Why it cannot run here and what would change that, as a sentence; empty if it can. */
  Optional<String> refusal();

  Kernels create();
}
