package dev.kvasir.server.models;

import dev.kvasir.KvasirException;
import dev.kvasir.server.models.ModelStatus.State;

/**
 * A model of a pool, loaded or not. The lock of the pool guards it.
 *
 * @param <T> a loaded model
 */
final class PooledModel<T extends LoadedService> {
  ModelSource<T> source;
  State state = State.UNLOADED;
  T model; // null unless loaded
  long bytes; // 0 until measured
  int leases;
  int requests; // that wait for a lease
  int promised; // of these, those that wait for the load in progress
  long lastUse;
  KvasirException failure; // of the last attempt to load it

  PooledModel(ModelSource<T> source) {
    this.source = source;
  }

  String name() {
    return source.name();
  }

  ModelStatus status() {
    return new ModelStatus(name(), state, bytes);
  }

  /** Returns whether it is loaded and nobody uses it or will. */
  boolean isUnloadable() {
    return state == State.LOADED && leases == 0 && promised == 0 && model.isIdle();
  }
}
