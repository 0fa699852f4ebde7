package dev.kvasir.chat.syntax;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Reads the arguments of a call whose name precedes them: a JSON object. */
final class ArgumentsReader implements Reader {
  /** Also what a client of the OpenAI API may name a function, with dots and colons. */
  private static final Pattern NAME = Pattern.compile("[\\w.:/-]{1,200}");

  private final CallSink sink;
  private final Supplier<String> name;
  private final Supplier<Optional<String>> id;
  private ValueReader object;

  /**
   * @param name the name, when the arguments begin
   */
  ArgumentsReader(CallSink sink, Supplier<String> name, Supplier<Optional<String>> id) {
    this.sink = sink;
    this.name = name;
    this.id = id;
  }

  ArgumentsReader(CallSink sink, Supplier<String> name) {
    this(sink, name, Optional::empty);
  }

  /** Returns whether text can be the name of a function. */
  static boolean isName(CharSequence text) {
    return NAME.matcher(text).matches();
  }

  @Override
  public Step accept(char c) {
    if (object == null) {
      if (Character.isWhitespace(c)) {
        return Step.MORE;
      }
      String called = name.get().strip();
      if (c != '{' || !isName(called) || !sink.start(called, id.get())) {
        return Step.MALFORMED;
      }
      object = ValueReader.json(sink::argument);
    }
    Step step = object.accept(c);
    if (step == Step.DONE) {
      sink.end();
    }
    return step;
  }
}
