package dev.kvasir.chat.syntax;

import java.util.Optional;

/**
 * Reads a call of Kimi K2 after {@code <|tool_call_begin|>}: an id, which contains the name as in
 * {@code functions.NAME:0}, then {@code <|tool_call_argument_begin|>} and a JSON object.
 */
final class KimiCalls {
  static final String ARGUMENTS = "<|tool_call_argument_begin|>";

  private static final int MAX_ID = 200;

  private KimiCalls() {}

  static Reader reader(CallSink sink, ParameterTypes types) {
    StringBuilder id = new StringBuilder();
    return new SequenceReader(
        new UntilReader(id::append, MAX_ID, ARGUMENTS),
        new ArgumentsReader(sink, () -> name(id), () -> Optional.of(id.toString().strip())));
  }

  private static String name(CharSequence id) {
    return id.toString().strip().replaceFirst("^functions\\.", "").replaceFirst(":[0-9]+$", "");
  }
}
