package dev.kvasir;

import java.util.function.Supplier;

/** Something that takes its time, made for the first who asks. */
final class Once<T> implements Supplier<T> {
  private final Supplier<T> maker;
  private T made;

  Once(Supplier<T> maker) {
    this.maker = maker;
  }

  @Override
  public synchronized T get() {
    if (made == null) {
      made = maker.get();
    }
    return made;
  }
}
