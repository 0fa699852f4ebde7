package dev.kvasir.server.http;

import dev.kvasir.server.answer.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;

/** Writes an answer to its client as it comes. Writing to a client that has gone throws. */
interface CompletionWriter {
  /** Nothing has come for a while, or there is no room yet. */
  void idle(String why) throws IOException;

  /** Anything but a failure. */
  void accept(CompletionEvent event) throws IOException;

  /** Every choice is done. */
  void end(int promptTokens) throws IOException;

  /**
   * @throws ApiException where nothing was written yet, so that it can be refused as a whole
   */
  void fail(ApiException why) throws IOException;
}
