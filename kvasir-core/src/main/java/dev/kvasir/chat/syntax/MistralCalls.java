package dev.kvasir.chat.syntax;

import java.util.Optional;

/**
 * Reads calls after {@code [TOOL_CALLS]}: a JSON array of objects, or {@code NAME[ARGS]} and an
 * object, with {@code [CALL_ID]} and an id between in some models.
 */
final class MistralCalls {
  private static final String ARGS = "[ARGS]";
  private static final String CALL_ID = "[CALL_ID]";
  private static final int MAX_NAME = 200;

  private MistralCalls() {}

  static Reader reader(CallSink sink, ParameterTypes types) {
    return new ChoiceReader(
        c -> c == '[' || c == '{' ? new JsonCallsReader(sink, false) : named(sink));
  }

  private static Reader named(CallSink sink) {
    StringBuilder name = new StringBuilder();
    StringBuilder id = new StringBuilder();
    UntilReader nameReader = new UntilReader(name::append, MAX_NAME, ARGS, CALL_ID, "{");
    ArgumentsReader arguments =
        new ArgumentsReader(
            sink,
            name::toString,
            () -> Optional.of(id.toString().strip()).filter(text -> !text.isEmpty()));
    UntilReader idReader = new UntilReader(id::append, MAX_NAME, ARGS);
    return new SequenceReader(
        c -> {
          Step step = nameReader.accept(c);
          // Models that leave out [ARGS] begin the arguments at once.
          return step == Step.DONE && nameReader.marker().equals("{") ? Step.DONE_BEFORE : step;
        },
        c -> CALL_ID.equals(nameReader.marker()) ? idReader.accept(c) : Step.DONE_BEFORE,
        arguments);
  }
}
