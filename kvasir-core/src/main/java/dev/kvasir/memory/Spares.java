package dev.kvasir.memory;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Supplier;

/**
 * Scratch memory between two uses: a few pieces wait for whoever comes next, from any thread, and
 * what a crowd needed once is not kept.
 *
 * @param <T> what is lent
 */
public final class Spares<T> {
  private static final int MOST = 4;

  private final ArrayBlockingQueue<T> waiting = new ArrayBlockingQueue<>(MOST);
  private final Supplier<T> make;

  public Spares(Supplier<T> make) {
    this.make = make;
  }

  /** One that nobody else uses, until it is given back. */
  public T take() {
    T spare = waiting.poll();
    return spare == null ? make.get() : spare;
  }

  public void giveBack(T spare) {
    waiting.offer(spare);
  }
}
