package dev.kvasir.chat.syntax;

import java.util.Set;

/** Reads calls in a fenced block after its opening {@code ```}: a language and calls. */
final class FenceReader implements Reader {
  /** Languages that models name for calls in JSON. */
  static final Set<String> JSON = Set.of("", "json", "tool_call", "tool_calls", "tool_code");

  /** The language that Gemma names for calls in Python. */
  private static final String TOOL_CODE = "tool_code";

  private static final int MAX_LANGUAGE = 10;

  private final CallSink sink;
  private final Set<String> languages;
  private final boolean isStrict;
  private final StringBuilder language = new StringBuilder();
  private Reader calls;

  /**
   * @param isStrict whether nothing marks the block as calls
   */
  FenceReader(CallSink sink, Set<String> languages, boolean isStrict) {
    this.sink = sink;
    this.languages = languages;
    this.isStrict = isStrict;
  }

  @Override
  public Step accept(char c) {
    if (calls != null) {
      return calls.accept(c);
    }
    if (Character.isWhitespace(c) || c == '{' || c == '[') {
      if (!languages.contains(language.toString().strip())) {
        return Step.MALFORMED;
      }
      calls = new SequenceReader(new ChoiceReader(this::choose), new LiteralReader("```"));
      return calls.accept(c);
    }
    language.append(c);
    boolean mayContinue =
        language.length() <= MAX_LANGUAGE
            && languages.stream().anyMatch(name -> name.startsWith(language.toString()));
    return mayContinue ? Step.MORE : Step.MALFORMED;
  }

  private Reader choose(char c) {
    if (c == '{') {
      return new JsonCallsReader(sink, isStrict);
    }
    if (c == '[') {
      return CallSyntax.list(sink, isStrict);
    }
    return language.toString().equals(TOOL_CODE) ? new PythonCallsReader(sink) : null;
  }
}
