package dev.kvasir.runtime;

import java.util.function.Supplier;

/** A supplier that computes its value on first use; thread-safe. */
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
