package dev.kvasir.chat.syntax;

import java.util.Optional;
import java.util.Set;

/**
 * Reads a call that is a JSON object with a name and arguments. The arguments stream if the name
 * precedes them. The call ends with its arguments, since models forget the bracket after them.
 */
final class JsonCallReader implements Reader {
  private static final Set<String> NAMES = Set.of("name", "tool_name", "function");
  private static final Set<String> ARGUMENTS = Set.of("arguments", "parameters");
  private static final Set<String> OTHERS = Set.of("id", "tool_call_id", "type", "index");

  private enum State {
    OPEN,
    KEY_OR_CLOSE,
    COLON,
    VALUE,
    AFTER_VALUE
  }

  private final CallSink sink;
  private final boolean isStrict;
  private final StringBuilder value = new StringBuilder();
  private State state = State.OPEN;
  private Reader inner; // reads a key or a value
  private String key;
  private String name;
  private String arguments;
  private int depth;
  private boolean isStreaming;
  private boolean isComplete;

  /**
   * @param isStrict whether the object must look like a call, because nothing marks it as one: it
   *     has arguments and no unknown members
   */
  JsonCallReader(CallSink sink, boolean isStrict) {
    this.sink = sink;
    this.isStrict = isStrict;
  }

  @Override
  public Step accept(char c) {
    if (inner != null) {
      Step step = inner.accept(c);
      if (step == Step.MORE || step == Step.MALFORMED) {
        return step;
      }
      if (!endInner()) {
        return Step.MALFORMED;
      }
      if (step == Step.DONE) {
        return Step.MORE;
      }
    }
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    return switch (state) {
      case OPEN -> c == '{' ? open() : Step.MALFORMED;
      case KEY_OR_CLOSE -> isDoubled(c) ? open() : c == '}' ? close() : beginKey(c);
      case COLON -> next(c == ':', State.VALUE);
      case VALUE -> beginValue(c);
      case AFTER_VALUE -> c == '}' ? close() : next(c == ',', State.KEY_OR_CLOSE);
    };
  }

  private Step next(boolean isValid, State next) {
    state = next;
    return isValid ? Step.MORE : Step.MALFORMED;
  }

  private Step open() {
    depth++;
    state = State.KEY_OR_CLOSE;
    return Step.MORE;
  }

  /**
   * Returns whether an object is opened twice. Qwen 2.5 Coder does so, since the prompt of its
   * template shows the form of a call in doubled braces.
   */
  private boolean isDoubled(char c) {
    return c == '{' && depth == 1 && key == null && !isStrict;
  }

  private Step beginKey(char c) {
    key = null;
    return c == '"' ? read(c) : Step.MALFORMED;
  }

  private Step read(char c) {
    value.setLength(0);
    inner = ValueReader.json(value::append);
    return inner.accept(c);
  }

  private Step beginValue(char c) {
    if (key.equals("function") && c == '{' && depth == 1) {
      return open();
    }
    if (isStrict && !NAMES.contains(key) && !ARGUMENTS.contains(key) && !OTHERS.contains(key)) {
      return Step.MALFORMED;
    }
    if (ARGUMENTS.contains(key) && name != null && c == '{' && arguments == null && !isComplete) {
      if (!sink.start(name, Optional.empty())) {
        return Step.MALFORMED;
      }
      isStreaming = true;
      inner = ValueReader.json(sink::argument);
      return inner.accept(c);
    }
    return read(c);
  }

  /** Returns false if the key or value is not what it must be. */
  private boolean endInner() {
    inner = null;
    if (isStreaming) {
      isStreaming = false;
      isComplete = true;
      sink.end();
      state = State.AFTER_VALUE;
      return true;
    }
    if (state == State.KEY_OR_CLOSE) {
      state = State.COLON;
      key = JsonText.unquoted(value.toString()).orElse(null);
      return key != null;
    }
    state = State.AFTER_VALUE;
    if (NAMES.contains(key) && name == null) {
      name = JsonText.unquoted(value.toString()).filter(ArgumentsReader::isName).orElse(null);
      return name != null;
    }
    if (ARGUMENTS.contains(key) && arguments == null) {
      arguments = value.toString();
    }
    return true;
  }

  private Step close() {
    depth--;
    state = State.AFTER_VALUE;
    if (depth > 0) {
      return Step.MORE;
    }
    if (!isComplete && !emit()) {
      return Step.MALFORMED;
    }
    sink.settle();
    return Step.DONE;
  }

  /** Delivers a call whose arguments preceded its name, are text, or are missing. */
  private boolean emit() {
    if (name == null || isStrict && arguments == null) {
      return false;
    }
    Optional<String> object = object();
    if (object.isEmpty() || !sink.start(name, Optional.empty())) {
      return false;
    }
    object.get().chars().forEach(c -> sink.argument((char) c));
    sink.end();
    return true;
  }

  /** Returns the arguments as an object; some models write them as text of JSON. */
  private Optional<String> object() {
    if (arguments == null || arguments.equals("null")) {
      return Optional.of("{}");
    }
    Optional<String> json =
        arguments.startsWith("\"")
            ? JsonText.unquoted(arguments).flatMap(text -> JsonText.compact(text, false))
            : Optional.of(arguments);
    return json.filter(text -> text.startsWith("{"));
  }
}
