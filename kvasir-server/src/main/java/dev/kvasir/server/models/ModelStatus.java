package dev.kvasir.server.models;

/**
 * A model of a server.
 *
 * @param bytes of its weights and KV caches; 0 until they are known
 */
public record ModelStatus(String name, State state, long bytes) {
  /** Whether a model is in memory. */
  public enum State {
    UNLOADED,
    LOADING,
    LOADED,
    UNLOADING,
    /** The last attempt to load it failed; the next request tries again. */
    FAILED;

    boolean isInMemory() {
      return this != UNLOADED && this != FAILED;
    }
  }
}
