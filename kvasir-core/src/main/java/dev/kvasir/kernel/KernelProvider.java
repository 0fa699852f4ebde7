package dev.kvasir.kernel;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Offers an implementation of {@link Kernels} from another module, found through {@link
 * java.util.ServiceLoader}. Answering {@link #refusal()} must not touch a class that may be absent.
 */
public interface KernelProvider {
  /** What {@code -Dkvasir.kernels=} calls it. */
  String name();

  /** Of those that can run, the highest serves, on top of the others. */
  int rank();

  /** Why it cannot run here and what would change that, as a sentence; empty if it can. */
  Optional<String> refusal();

  /**
   * Partial sums that it keeps of a long sum. All kernels of a process keep as many, so that they
   * agree to the last bit: the lowest that can run says how many.
   */
  int lanes();

  /**
   * @param beneath serves what this one leaves; made when it is asked for, since that takes a part
   *     of every start
   * @param lanes partial sums of a long sum, at most {@link #lanes()}
   */
  Kernels create(Supplier<Kernels> beneath, int lanes);
}
