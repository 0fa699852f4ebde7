package dev.kvasir;

import java.util.function.Supplier;

/** Something that takes its time, made for the first who asks. */
final class Lazy<T> implements Supplier<T> {
  private final Supplier<T> supplier;
  private T value;

  Lazy(Supplier<T> supplier) {
    this.supplier = supplier;
  }

  @Override
  public synchronized T get() {
    if (value == null) {
      value = supplier.get();
    }
    return value;
  }
}
