package dev.kvasir.template;

import dev.kvasir.template.Token.Kind;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;

/** Splits the inside of a tag into names, literals and operators. */
final class TagLexer {
  private static final String[] OPERATORS = {
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", ".", ":", "|",
    ",", ";", "(", ")", "[", "]", "{", "}"
  };

  private final String source;
  private final String close;
  private final boolean block;
  private final Function<String, TemplateException> error;
  private final Deque<String> open = new ArrayDeque<>();
  private int position;

  TagLexer(String source, int position, boolean block, Function<String, TemplateException> error) {
    this.source = source;
    this.position = position;
    this.block = block;
    this.close = block ? "%}" : "}}";
    this.error = error;
  }

  int position() {
    return position;
  }

  int skipSpace() {
    position = Whitespace.skip(source, position);
    return position;
  }

  /** Returns the next token; its kind is END after the closing marker. */
  Token next(int line) {
    if (position >= source.length()) {
      throw error.apply("a tag without its '" + close + "'");
    }
    // Inside brackets '}}' closes dictionaries, not the tag.
    if (open.isEmpty()) {
      char sign = source.charAt(position);
      boolean signed = sign == '-' || sign == '+' && block;
      int end = signed ? position + 1 : position;
      if (source.startsWith(close, end)) {
        position = end + close.length();
        return new Token(Kind.END, "", line);
      }
    }
    int point = source.codePointAt(position);
    if (point >= '0' && point <= '9') {
      return new Token(Kind.NUMBER, number(), line);
    }
    if (point == '_' || Character.isUnicodeIdentifierStart(point)) {
      return new Token(Kind.NAME, name(), line);
    }
    if (point == '\'' || point == '"') {
      return new Token(Kind.STRING, string((char) point), line);
    }
    return new Token(Kind.OPERATOR, operator(), line);
  }

  private String name() {
    int start = position;
    while (position < source.length() && namePart(source.codePointAt(position))) {
      position += Character.charCount(source.codePointAt(position));
    }
    return source.substring(start, position);
  }

  private static boolean namePart(int point) {
    return Character.isUnicodeIdentifierPart(point) && !Character.isIdentifierIgnorable(point);
  }

  private String string(char quote) {
    int start = ++position;
    while (position < source.length() && source.charAt(position) != quote) {
      position += source.charAt(position) == '\\' ? 2 : 1;
    }
    if (position >= source.length()) {
      throw error.apply("a string without its closing " + quote);
    }
    return StringLiteral.unescape(source.substring(start, position++), error);
  }

  private Object number() {
    int start = position;
    char second = position + 1 < source.length() ? source.charAt(position + 1) : ' ';
    int radix =
        source.charAt(start) != '0'
            ? 10
            : switch (second) {
              case 'x', 'X' -> 16;
              case 'o', 'O' -> 8;
              case 'b', 'B' -> 2;
              default -> 10;
            };
    if (radix != 10) {
      position += 2;
      digits(radix);
      return integer(source.substring(start + 2, position), radix);
    }
    digits(10);
    boolean afterDot = start > 0 && source.charAt(start - 1) == '.';
    boolean real = false;
    if (!afterDot && peek('.') && digitAt(position + 1)) {
      position++;
      digits(10);
      real = true;
    }
    if (!afterDot && (peek('e') || peek('E'))) {
      int sign = position + 1;
      boolean signed = sign < source.length() && "+-".indexOf(source.charAt(sign)) >= 0;
      if (digitAt(signed ? sign + 1 : sign)) {
        position = signed ? sign + 1 : sign;
        digits(10);
        real = true;
      }
    }
    String text = source.substring(start, position);
    return real ? (Object) Double.valueOf(text.replace("_", "")) : integer(text, 10);
  }

  private Long integer(String digits, int radix) {
    String plain = digits.replace("_", "");
    if (plain.isEmpty() || plain.length() > Long.SIZE) {
      throw error.apply("an integer that is empty or of more than 64 bits");
    }
    var value = new BigInteger(plain, radix);
    if (value.bitLength() >= Long.SIZE) {
      throw error.apply("the integer " + digits + ", which needs more than 64 bits");
    }
    return value.longValue();
  }

  private void digits(int radix) {
    while (position < source.length()) {
      char character = source.charAt(position);
      boolean digit = character < 0x80 && Character.digit(character, radix) >= 0;
      boolean separator = character == '_' && digitAt(position + 1);
      if (!digit && !separator) {
        return;
      }
      position++;
    }
  }

  private boolean peek(char expected) {
    return position < source.length() && source.charAt(position) == expected;
  }

  private boolean digitAt(int at) {
    return at < source.length() && source.charAt(at) >= '0' && source.charAt(at) <= '9';
  }

  private String operator() {
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, position)) {
        balance(operator);
        position += operator.length();
        return operator;
      }
    }
    throw error.apply("the unexpected character " + PythonText.repr(character()));
  }

  private String character() {
    return Character.toString(source.codePointAt(position));
  }

  private void balance(String operator) {
    switch (operator) {
      case "(" -> open.push(")");
      case "[" -> open.push("]");
      case "{" -> open.push("}");
      case ")", "]", "}" -> {
        String expected = open.poll();
        if (!operator.equals(expected)) {
          String instead = expected == null ? "" : " where '" + expected + "' was expected";
          throw error.apply("an unexpected '" + operator + "'" + instead);
        }
      }
      default -> {}
    }
  }
}
