package dev.kvasir.chat.syntax;

import java.util.regex.Pattern;

/**
 * Reads a JSON or Python literal and writes it as JSON without white space.
 *
 * <p>Of JSON it also accepts what models get wrong: line breaks in strings, unknown escapes, a
 * comma before a closing bracket, and {@code True}, {@code False} and {@code None}. Python adds
 * single quotes, tuples, which become arrays, and zeros before a number.
 */
final class ValueReader implements Reader {
  private static final int MAX_WORD = 64;
  private static final int MAX_DEPTH = 128;
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
  private static final Pattern LEADING_ZEROS = Pattern.compile("^(-?)0+(?=[0-9])");

  private enum State {
    VALUE,
    VALUE_OR_CLOSE,
    KEY_OR_CLOSE,
    COLON,
    AFTER_VALUE,
    STRING,
    ESCAPE,
    HEX,
    WORD
  }

  private final CharSink out;
  private final boolean isPython;
  private final StringBuilder closers = new StringBuilder(); // of the open brackets
  private final StringBuilder word = new StringBuilder();
  private State state = State.VALUE;
  private boolean isKey;
  private boolean isCommaDue;
  private char quote;
  private int hexDigits;

  private ValueReader(CharSink out, boolean isPython) {
    this.out = out;
    this.isPython = isPython;
  }

  static ValueReader json(CharSink out) {
    return new ValueReader(out, false);
  }

  static ValueReader python(CharSink out) {
    return new ValueReader(out, true);
  }

  @Override
  public Step accept(char c) {
    return switch (state) {
      case VALUE, VALUE_OR_CLOSE -> value(c);
      case KEY_OR_CLOSE -> key(c);
      case COLON -> colon(c);
      case AFTER_VALUE -> afterValue(c);
      case STRING -> string(c);
      case ESCAPE -> escape(c);
      case HEX -> hex(c);
      case WORD -> word(c);
    };
  }

  private Step value(char c) {
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    if (state == State.VALUE_OR_CLOSE && isCloser(c)) {
      return close();
    }
    if (isQuote(c)) {
      return beginString(c, false);
    }
    return switch (c) {
      case '{' -> open('{', '}', State.KEY_OR_CLOSE);
      case '[' -> open('[', ']', State.VALUE_OR_CLOSE);
      case '(' -> isPython ? open('[', ')', State.VALUE_OR_CLOSE) : Step.MALFORMED;
      default -> isWordPart(c) ? beginWord(c) : Step.MALFORMED;
    };
  }

  private Step open(char bracket, char closer, State next) {
    if (closers.length() == MAX_DEPTH) {
      return Step.MALFORMED;
    }
    writeComma();
    out.accept(bracket);
    closers.append(closer);
    state = next;
    return Step.MORE;
  }

  private boolean isCloser(char c) {
    return !closers.isEmpty() && closers.charAt(closers.length() - 1) == c;
  }

  private Step close() {
    char closer = closers.charAt(closers.length() - 1);
    closers.setLength(closers.length() - 1);
    out.accept(closer == ')' ? ']' : closer);
    isCommaDue = false;
    return endValue();
  }

  private Step endValue() {
    state = State.AFTER_VALUE;
    return closers.isEmpty() ? Step.DONE : Step.MORE;
  }

  private void writeComma() {
    if (isCommaDue) {
      out.accept(',');
      isCommaDue = false;
    }
  }

  private Step key(char c) {
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    if (isCloser(c)) {
      return close();
    }
    return isQuote(c) ? beginString(c, true) : Step.MALFORMED;
  }

  private Step colon(char c) {
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    if (c != ':') {
      return Step.MALFORMED;
    }
    out.accept(':');
    state = State.VALUE;
    return Step.MORE;
  }

  private Step afterValue(char c) {
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    if (isCloser(c)) {
      return close();
    }
    if (c != ',') {
      return Step.MALFORMED;
    }
    isCommaDue = true;
    state = isCloser('}') ? State.KEY_OR_CLOSE : State.VALUE_OR_CLOSE;
    return Step.MORE;
  }

  private boolean isQuote(char c) {
    return c == '"' || isPython && c == '\'';
  }

  private Step beginString(char c, boolean asKey) {
    writeComma();
    quote = c;
    isKey = asKey;
    out.accept('"');
    state = State.STRING;
    return Step.MORE;
  }

  private Step string(char c) {
    if (c == quote) {
      out.accept('"');
      if (isKey) {
        state = State.COLON;
        return Step.MORE;
      }
      return endValue();
    }
    if (c == '\\') {
      state = State.ESCAPE;
    } else {
      JsonText.writeCharacter(c, out);
    }
    return Step.MORE;
  }

  private Step escape(char c) {
    state = State.STRING;
    switch (c) {
      case '"', '\\', 'b', 'f', 'n', 'r', 't' -> {
        out.accept('\\');
        out.accept(c);
      }
      case '/', '\'' -> out.accept(c);
      case 'u' -> {
        out.accept("\\u");
        hexDigits = 4;
        state = State.HEX;
      }
      default -> {
        // Not an escape: models write regular expressions and paths this way.
        out.accept("\\\\");
        JsonText.writeCharacter(c, out);
      }
    }
    return Step.MORE;
  }

  private Step hex(char c) {
    if (Character.digit(c, 16) < 0 || c > 'f') {
      return Step.MALFORMED;
    }
    out.accept(c);
    hexDigits--;
    state = hexDigits == 0 ? State.STRING : State.HEX;
    return Step.MORE;
  }

  private static boolean isWordPart(char c) {
    return c >= '0' && c <= '9'
        || c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c == '-'
        || c == '+'
        || c == '.';
  }

  private Step beginWord(char c) {
    word.setLength(0);
    word.append(c);
    state = State.WORD;
    return Step.MORE;
  }

  private Step word(char c) {
    if (isWordPart(c) && word.length() < MAX_WORD) {
      word.append(c);
      return Step.MORE;
    }
    String json = wordAsJson();
    if (json == null) {
      return Step.MALFORMED;
    }
    writeComma();
    out.accept(json);
    return endValue() == Step.DONE ? Step.DONE_BEFORE : afterValue(c);
  }

  /** Returns null if the word is no value. */
  private String wordAsJson() {
    String text = word.toString();
    return switch (text) {
      case "true", "True" -> "true";
      case "false", "False" -> "false";
      case "null", "None" -> "null";
      default -> number(text);
    };
  }

  private String number(String text) {
    String number = isPython ? LEADING_ZEROS.matcher(text).replaceFirst("$1") : text;
    return NUMBER.matcher(number).matches() ? number : null;
  }
}
