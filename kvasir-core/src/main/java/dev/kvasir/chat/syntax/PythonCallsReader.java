package dev.kvasir.chat.syntax;

import java.util.Optional;

/** Reads calls in Python syntax with named arguments, such as {@code [f(a=1), g(b="x")]}. */
final class PythonCallsReader implements Reader {
  /** How Llama calls its own tools, such as {@code brave_search.call(query="x")}. */
  private static final String LLAMA_SUFFIX = ".call";

  private static final int MAX_NAME = 200;

  private enum State {
    CALL,
    NAME,
    KEY_OR_CLOSE,
    KEY,
    EQUALS,
    VALUE,
    AFTER_VALUE,
    AFTER_CALL
  }

  private final CallSink sink;
  private final StringBuilder word = new StringBuilder();
  private State state = State.CALL;
  private ValueReader value;
  private boolean isList;
  private boolean hasArguments;

  PythonCallsReader(CallSink sink) {
    this.sink = sink;
  }

  @Override
  public Step accept(char c) {
    if (value != null) {
      Step step = value.accept(c);
      if (step == Step.MORE || step == Step.MALFORMED) {
        return step;
      }
      value = null;
      state = State.AFTER_VALUE;
      if (step == Step.DONE) {
        return Step.MORE;
      }
    }
    if (state == State.NAME || state == State.KEY) {
      return word(c);
    }
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    return switch (state) {
      case CALL -> call(c);
      case KEY_OR_CLOSE -> c == ')' ? close() : beginWord(c, State.KEY);
      case EQUALS -> next(c == '=', State.VALUE);
      case VALUE -> beginValue(c);
      case AFTER_VALUE -> c == ')' ? close() : next(c == ',', State.KEY_OR_CLOSE);
      case AFTER_CALL -> afterCall(c);
      case NAME, KEY -> throw new IllegalStateException(); // read above
    };
  }

  private Step next(boolean isValid, State next) {
    state = next;
    return isValid ? Step.MORE : Step.MALFORMED;
  }

  private Step call(char c) {
    if (c == '[' && !isList) {
      isList = true;
      return Step.MORE;
    }
    return beginWord(c, State.NAME);
  }

  private Step beginWord(char c, State next) {
    word.setLength(0);
    word.append(c);
    return next(Character.isJavaIdentifierStart(c), next);
  }

  private Step word(char c) {
    boolean isPart = Character.isJavaIdentifierPart(c) || state == State.NAME && isNamePart(c);
    if (isPart && word.length() < MAX_NAME) {
      word.append(c);
      return Step.MORE;
    }
    if (state == State.NAME) {
      return c == '(' ? open() : Step.MALFORMED;
    }
    state = State.EQUALS;
    return Character.isWhitespace(c) ? Step.MORE : next(c == '=', State.VALUE);
  }

  private static boolean isNamePart(char c) {
    return c == '.' || c == '-';
  }

  private Step open() {
    String name = word.toString();
    String called =
        name.endsWith(LLAMA_SUFFIX)
            ? name.substring(0, name.length() - LLAMA_SUFFIX.length())
            : name;
    if (!ArgumentsReader.isName(called) || !sink.start(called, Optional.empty())) {
      return Step.MALFORMED;
    }
    sink.argument('{');
    hasArguments = false;
    state = State.KEY_OR_CLOSE;
    return Step.MORE;
  }

  private Step beginValue(char c) {
    if (hasArguments) {
      sink.argument(',');
    }
    hasArguments = true;
    JsonText.string(word).chars().forEach(part -> sink.argument((char) part));
    sink.argument(':');
    value = ValueReader.python(sink::argument);
    return value.accept(c);
  }

  private Step close() {
    sink.argument('}');
    sink.end();
    state = State.AFTER_CALL;
    return Step.MORE;
  }

  private Step afterCall(char c) {
    if (isList) {
      if (c == ']') {
        return Step.DONE;
      }
      return next(c == ',', State.CALL);
    }
    if (c == ',' || c == ';') {
      return Step.MORE;
    }
    return Character.isJavaIdentifierStart(c) ? beginWord(c, State.NAME) : Step.DONE_BEFORE;
  }
}
