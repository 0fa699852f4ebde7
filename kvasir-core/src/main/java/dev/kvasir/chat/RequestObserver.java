package dev.kvasir.chat;

import dev.kvasir.KvasirException;

/** Follows one request from its arrival to its end. Calls come from the threads that work on it. */
public interface RequestObserver {
  /** Observes nothing. */
  RequestObserver NONE = new RequestObserver() {};

  /** Called when the request leaves the queue. */
  default void admitted() {}

  /** Called when the prompt of a choice has been prefilled. */
  default void prefilled(int choice) {}

  /** Called for the first text of a choice. */
  default void firstText(int choice) {}

  /** Called when a choice has ended well. */
  default void done(CompletionEvent.Done last) {}

  /** Called when a choice has failed, or all of them were rejected. */
  default void failed(KvasirException cause) {}

  /** Called once, after everything else. */
  default void ended() {}
}
