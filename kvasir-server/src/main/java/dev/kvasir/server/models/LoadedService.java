package dev.kvasir.server.models;

/** A loaded model with what serves it. */
public interface LoadedService extends AutoCloseable {
  /** Returns whether nothing is in progress; leases are not counted. */
  boolean isIdle();

  /** Ends what is in progress. */
  void stop();

  /** Frees the model. */
  @Override
  void close();
}
