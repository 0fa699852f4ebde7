package dev.kvasir.server.api;

import com.google.gson.JsonObject;
import dev.kvasir.chat.CompletionEvent;
import java.util.List;
import java.util.Optional;

/**
 * Writes one completion in the format of an API, either as events of a stream or as one object. It
 * receives every event of the completion once, in order, from one thread.
 */
public interface ResponseFormat {
  /**
   * Called when the completion starts.
   *
   * @param promptTokens tokens of its prompt
   * @param cancel ends the completion early; may be called by any thread
   * @return the first events of a stream
   */
  List<StreamEvent> begin(int promptTokens, Runnable cancel);

  /** Returns the stream events of any event but a failure. */
  List<StreamEvent> events(CompletionEvent event);

  /** Returns the last events of a stream when every choice is done. */
  List<StreamEvent> end();

  /** Returns the last events of a stream that fails. */
  List<StreamEvent> fail(ApiException why);

  /** Returns an event that keeps a stream alive; empty for a comment line. */
  default Optional<StreamEvent> keepAlive() {
    return Optional.empty();
  }

  /** Adds an event of a completion that is not streamed. */
  default void collect(CompletionEvent event) {
    events(event);
  }

  /** Returns the complete response when every choice is done. */
  JsonObject build();
}
