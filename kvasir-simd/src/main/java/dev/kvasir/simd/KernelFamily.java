package dev.kvasir.simd;

import dev.kvasir.kernel.Family;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Kernels that are tried together, and not before one of them is asked for: compiling takes the
 * processors from who waits for words.
 */
final class KernelFamily implements Comparable<KernelFamily> {
  private static final Logger LOGGER = System.getLogger("dev.kvasir.kernel");

  /** A busy machine may be slow to compile; one that never does is not asked for ever. */
  private static final int MOST_TRIES = 3;

  private final Family family;
  private final Function<WarmUp, WarmUp.Trial> trial;
  private final Consumer<KernelFamily> queue;
  private final AtomicBoolean asked = new AtomicBoolean();
  private volatile boolean warm;
  private volatile String reason = "not asked for yet";
  private volatile boolean decided;
  private int tries;

  /**
   * @param queue takes it once it is asked for
   */
  KernelFamily(Family family, Function<WarmUp, WarmUp.Trial> trial, Consumer<KernelFamily> queue) {
    this.family = family;
    this.trial = trial;
    this.queue = queue;
  }

  /** Whether vector kernels serve; asks for them to be tried. */
  boolean isWarm() {
    if (!warm && !asked.get() && asked.compareAndSet(false, true)) {
      reason = "waits for its trial";
      queue.accept(this);
    }
    return warm;
  }

  /** Whether it is known which kernels serve. */
  boolean isDecided() {
    return decided;
  }

  /** Tries the vector kernels; a trial that fails decides for the scalar ones. */
  void tryOut(WarmUp trials) {
    try {
      if (trials.vectorWins(trial.apply(trials))) {
        warm = true;
        decide("they are the faster ones");
      } else {
        gaveUp();
      }
    } catch (RuntimeException | Error e) {
      refuse("the trial of vector kernels failed: %s".formatted(e));
    }
  }

  /** They did not become the faster ones in time, perhaps because others took it. */
  void gaveUp() {
    tries++;
    if (tries < MOST_TRIES) {
      queue.accept(this);
    } else {
      refuse("vector kernels stayed the slower ones in %d trials".formatted(tries));
    }
  }

  private void refuse(String why) {
    decide(why);
    LOGGER.log(Level.WARNING, "scalar kernels serve for {0}: {1}", family.words(), why);
  }

  private void decide(String why) {
    reason = why;
    decided = true;
  }

  /** For people: which kernels serve, and why. */
  String report() {
    return "%s, %s".formatted(warm ? "vectors" : "plain Java", reason);
  }

  /**
   * Those that failed before come after all that wait for their first trial; of the others, in the
   * order of the families.
   */
  @Override
  public int compareTo(KernelFamily other) {
    return tries == other.tries
        ? family.compareTo(other.family)
        : Integer.compare(tries, other.tries);
  }
}
