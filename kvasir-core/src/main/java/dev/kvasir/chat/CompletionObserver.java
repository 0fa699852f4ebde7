package dev.kvasir.chat;

import dev.kvasir.Generation;

/** Follows all completions of a service, for metrics and logs. Calls come from many threads. */
public interface CompletionObserver {
  /** Observes nothing. */
  CompletionObserver NONE = new CompletionObserver() {};

  /**
   * Called on the caller's thread when a request arrives; returns what follows it.
   *
   * @param model name of the model, for display
   */
  default RequestObserver arrived(String model, CompletionRequest request) {
    return RequestObserver.NONE;
  }

  /**
   * Called for a piece of generated text.
   *
   * @param gapNanos time since the previous piece; -1 for the first
   * @param sinceArrival nanoseconds since the request arrived
   */
  default void piece(long gapNanos, long sinceArrival) {}

  /**
   * Called for a finished completion.
   *
   * @param cached prompt tokens that came from the prefix cache
   */
  default void completed(Generation generation, int cached) {}

  /** Called for an internal error. */
  default void failed(Throwable cause) {}
}
