package dev.kvasir.chat.syntax;

import java.util.List;
import java.util.Optional;

/**
 * Reads a call of Gemma 4 after {@code <|tool_call>}: {@code call:NAME{KEY:VALUE,...}}. Strings lie
 * between {@code <|"|>} marks, and keys have none.
 */
final class Gemma4CallReader implements Reader {
  static final String QUOTE = "<|\"|>";

  private static final int MAX_NAME = 200;

  private final Reader parts;

  Gemma4CallReader(CallSink sink) {
    StringBuilder name = new StringBuilder();
    this.parts =
        new SequenceReader(
            new LiteralReader("call:"),
            new UntilReader(name::append, MAX_NAME, "{"),
            new Reader() {
              private Members members;

              @Override
              public Step accept(char c) {
                if (members == null) {
                  if (!begin(sink, name.toString().strip())) {
                    return Step.MALFORMED;
                  }
                  members = new Members(sink::argument);
                }
                Step step = members.accept(c);
                if (step == Step.DONE) {
                  sink.end();
                }
                return step;
              }
            });
  }

  private static boolean begin(CallSink sink, String name) {
    return ArgumentsReader.isName(name) && sink.start(name, Optional.empty());
  }

  @Override
  public Step accept(char c) {
    return parts.accept(c);
  }

  /** Reads the members of an object after its bracket, and writes it as JSON. */
  private static final class Members implements Reader {
    private static final int MAX_WORD = 200;
    private static final int MAX_DEPTH = 128;

    private enum State {
      KEY_OR_CLOSE,
      BARE_KEY,
      COLON,
      VALUE_OR_CLOSE,
      OPENING_QUOTE,
      STRING,
      WORD,
      AFTER_VALUE
    }

    private final CharSink out;
    private final StringBuilder closers = new StringBuilder("}");
    private final StringBuilder word = new StringBuilder();
    private State state = State.KEY_OR_CLOSE;
    private MarkerScanner string;
    private ValueReader json; // of a string in usual quotes
    private boolean isKey;
    private boolean isFirst = true; // in the innermost object or array

    Members(CharSink out) {
      this.out = out;
      out.accept('{');
    }

    @Override
    public Step accept(char c) {
      if (json != null) {
        return json(c);
      }
      boolean isInside = state == State.STRING || state == State.OPENING_QUOTE;
      if (!isInside && state != State.WORD && Character.isWhitespace(c)) {
        return Step.MORE;
      }
      return switch (state) {
        case KEY_OR_CLOSE -> c == closer() ? close() : key(c);
        case BARE_KEY -> bareKey(c);
        case COLON -> colon(c);
        case VALUE_OR_CLOSE -> c == ']' && closer() == ']' ? close() : value(c);
        case OPENING_QUOTE -> openingQuote(c);
        case STRING -> string(c);
        case WORD -> word(c);
        case AFTER_VALUE -> c == closer() ? close() : comma(c);
      };
    }

    private Step next(boolean isValid, State next) {
      state = next;
      return isValid ? Step.MORE : Step.MALFORMED;
    }

    private char closer() {
      return closers.charAt(closers.length() - 1);
    }

    private Step close() {
      out.accept(closer());
      closers.setLength(closers.length() - 1);
      isFirst = false;
      state = State.AFTER_VALUE;
      return closers.isEmpty() ? Step.DONE : Step.MORE;
    }

    private Step comma(char c) {
      return next(c == ',', closer() == '}' ? State.KEY_OR_CLOSE : State.VALUE_OR_CLOSE);
    }

    private void separate() {
      if (!isFirst) {
        out.accept(',');
      }
      isFirst = false;
    }

    private Step key(char c) {
      separate();
      isKey = true;
      if (c == '"') {
        return quoted(c);
      }
      word.setLength(0);
      word.append(c);
      return next(c != ':' && c != ',', c == '<' ? State.OPENING_QUOTE : State.BARE_KEY);
    }

    private Step bareKey(char c) {
      if (c == ':') {
        out.accept(JsonText.string(word.toString().strip()));
        return colon(c);
      }
      word.append(c);
      return word.length() > MAX_WORD || "{}[],".indexOf(c) >= 0 ? Step.MALFORMED : Step.MORE;
    }

    private Step colon(char c) {
      if (c != ':') {
        return Step.MALFORMED;
      }
      out.accept(c);
      return next(true, State.VALUE_OR_CLOSE);
    }

    private Step value(char c) {
      if (closer() == ']') {
        separate();
      }
      isKey = false;
      if (c == '"') {
        return quoted(c);
      }
      if (c == '{' || c == '[') {
        return open(c);
      }
      word.setLength(0);
      word.append(c);
      boolean isValid = c != ',' && c != '}' && c != ']' && c != ':';
      return next(isValid, c == '<' ? State.OPENING_QUOTE : State.WORD);
    }

    private Step open(char c) {
      out.accept(c);
      closers.append(c == '{' ? '}' : ']');
      isFirst = true;
      return next(
          closers.length() <= MAX_DEPTH, c == '{' ? State.KEY_OR_CLOSE : State.VALUE_OR_CLOSE);
    }

    private Step quoted(char c) {
      json = ValueReader.json(out);
      return json(c);
    }

    private Step json(char c) {
      Step step = json.accept(c);
      if (step != Step.DONE) {
        return step;
      }
      json = null;
      return endString();
    }

    private Step endString() {
      return next(true, isKey ? State.COLON : State.AFTER_VALUE);
    }

    private Step openingQuote(char c) {
      word.append(c);
      if (word.length() < QUOTE.length()) {
        return QUOTE.startsWith(word.toString()) ? Step.MORE : Step.MALFORMED;
      }
      out.accept('"');
      string = new MarkerScanner(List.of(QUOTE), text -> JsonText.writeCharacter(text, out));
      return next(word.toString().equals(QUOTE), State.STRING);
    }

    private Step string(char c) {
      if (string.accept(c) == null) {
        return Step.MORE;
      }
      out.accept('"');
      return endString();
    }

    private Step word(char c) {
      boolean ends = c == ',' || c == '}' || c == ']';
      if (!ends) {
        word.append(c);
        return word.length() > MAX_WORD ? Step.MALFORMED : Step.MORE;
      }
      out.accept(ParameterTypes.json(word.toString().strip()));
      state = State.AFTER_VALUE;
      return accept(c);
    }
  }
}
