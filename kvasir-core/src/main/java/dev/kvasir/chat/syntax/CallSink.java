package dev.kvasir.chat.syntax;

import java.util.Optional;

/** Receives the calls that readers find. */
interface CallSink {
  /**
   * Starts a call.
   *
   * @param id the model's own id
   * @return false if there is no such tool, and the text is therefore no call
   */
  boolean start(String name, Optional<String> id);

  /** Adds to the arguments of the call, which are a JSON object. */
  void argument(char c);

  /** Ends the call. */
  void end();

  /** Says that the text so far belongs to complete calls, such as the brackets around them. */
  default void settle() {}
}
