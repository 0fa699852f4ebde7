package dev.kvasir.server.models;

/**
 * A model that can be loaded.
 *
 * @param <T> the loaded model
 */
public interface ModelSource<T> {
  String name();

  /**
   * Returns what it takes when loaded: weights and KV caches. This reads the model's files.
   *
   * @throws dev.kvasir.error.InvalidInputException if they cannot be read
   */
  long bytes();

  /**
   * Loads the model.
   *
   * @throws dev.kvasir.error.InvalidInputException if it cannot be loaded
   */
  T load();
}
