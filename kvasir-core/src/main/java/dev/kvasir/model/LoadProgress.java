package dev.kvasir.model;

/** Called while weights are loaded. */
@FunctionalInterface
public interface LoadProgress {
  void layers(int done, int total);
}
