package dev.kvasir.server.http;

import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;

/** Writes a completion to its client. Writing to a disconnected client throws. */
interface CompletionWriter {
  /** Sends a keep-alive while no event arrives or the request is queued. */
  void idle(String why) throws IOException;

  /**
   * Called once, when the completion starts.
   *
   * @param cancel ends the completion early
   */
  void begin(int promptTokens, Runnable cancel) throws IOException;

  /** Accepts any event but a failure. */
  void accept(CompletionEvent event) throws IOException;

  /** Ends the response when every choice is done. */
  void end() throws IOException;

  /**
   * @throws ApiException if nothing was written yet, so that the response can be an error
   */
  void fail(ApiException why) throws IOException;
}
