package dev.kvasir.model;

/** Told while weights are loaded. */
@FunctionalInterface
public interface LoadProgress {
  void layers(int done, int total);
}
