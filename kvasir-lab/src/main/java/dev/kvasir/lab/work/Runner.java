package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;

/** Who runs pieces, having the materials they need. */
public interface Runner extends AutoCloseable {
  /** Takes results of pieces. */
  @FunctionalInterface
  interface Delivery<R> {
    /**
     * @param piece its place in the list
     */
    void take(int index, R result);
  }

  /** How many pieces run at the same time; a plan may cut its work the finer. */
  default int parallelism() {
    return 1;
  }

  /**
   * Runs pieces. Results come in any order, each piece's once, one at a time and on the thread that
   * calls; so does all that the listener hears.
   *
   * @param listener is told of progress up to the work of all pieces
   * @return false where the listener ended it; what was finished until then is delivered
   * @throws dev.kvasir.error.InvalidInputException what a piece was refused with
   */
  <R extends Serializable> boolean run(
      List<? extends LabTask<? extends R>> tasks, ProgressListener listener, Delivery<R> delivery);

  /** The address of a page on which people watch it, if it has one. */
  default Optional<String> dashboardUrl() {
    return Optional.empty();
  }

  @Override
  default void close() {}
}
