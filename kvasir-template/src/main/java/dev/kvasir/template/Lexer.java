package dev.kvasir.template;

import dev.kvasir.template.TokenStream.Kind;
import dev.kvasir.template.TokenStream.Token;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Splits a template into text and tags, and tags into names, literals and operators.
 *
 * <p>White space follows Jinja with {@code trim_blocks} and {@code lstrip_blocks}, the settings of
 * chat templates. The newline after a block or comment and the indentation before it are removed. A
 * minus sign in a tag removes all white space on its side, and a plus sign keeps it. One newline at
 * the end of the source is removed.
 */
final class Lexer {
  private static final String[] OPERATORS = {
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", ".", ":", "|",
    ",", ";", "(", ")", "[", "]", "{", "}"
  };

  private final String name;
  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private final Deque<String> closingBrackets = new ArrayDeque<>();
  private int position;

  /** The line of the latest token, which errors report. */
  private int line = 1;

  private int counted;

  private Lexer(String source, String name) {
    String lines = source.replace("\r\n", "\n").replace('\r', '\n');
    this.source = lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines;
    this.name = name;
  }

  static List<Token> tokens(String source, String name) {
    var lexer = new Lexer(source, name);
    while (lexer.position < lexer.source.length()) {
      lexer.next();
    }
    lexer.add(Kind.END, "");
    return lexer.tokens;
  }

  private void next() {
    int open = open(position);
    if (open < 0) {
      data(source.substring(position));
      position = source.length();
      return;
    }
    data(before(open));
    char kind = source.charAt(open + 1);
    position = open + 2;
    countLines();
    if (at('-') || at('+')) {
      position++;
    }
    switch (kind) {
      case '#' -> comment();
      case '{' -> tag(false);
      default -> {
        int body = rawBody();
        if (body >= 0) {
          raw(body);
        } else {
          tag(true);
        }
      }
    }
  }

  private int open(int from) {
    int at = source.indexOf('{', from);
    while (at >= 0 && at + 1 < source.length()) {
      if ("{%#".indexOf(source.charAt(at + 1)) >= 0) {
        return at;
      }
      at = source.indexOf('{', at + 1);
    }
    return -1;
  }

  /**
   * Returns the text up to the tag at {@code open}, without the white space that the tag removes.
   */
  private String before(int open) {
    String text = source.substring(position, open);
    char sign = open + 2 < source.length() ? source.charAt(open + 2) : ' ';
    if (sign == '-') {
      return PythonStrings.stripEnd(text, PythonStrings::isSpace);
    }
    if (sign == '+' || source.charAt(open + 1) == '{') {
      return text;
    }
    int lineStart = text.lastIndexOf('\n') + 1;
    boolean startsLine = lineStart > 0 || position == 0 || source.charAt(position - 1) == '\n';
    return startsLine && PythonStrings.skipSpace(text, lineStart) == text.length()
        ? text.substring(0, lineStart)
        : text;
  }

  private void comment() {
    int end = source.indexOf("#}", position);
    if (end < 0) {
      throw error("a comment without its '#}'");
    }
    char sign = end > position ? source.charAt(end - 1) : ' ';
    position = end + 2;
    closed(sign, true);
  }

  /** Returns the start of the text of a raw block, or -1 if this is another tag. */
  private int rawBody() {
    int at = PythonStrings.skipSpace(source, position);
    if (!source.startsWith("raw", at)) {
      return -1;
    }
    at = PythonStrings.skipSpace(source, at + 3);
    if (source.startsWith("-%}", at)) {
      return PythonStrings.skipSpace(source, at + 3);
    }
    return source.startsWith("%}", at) ? at + 2 : -1;
  }

  private void raw(int body) {
    int open = source.indexOf("{%", body);
    while (open >= 0) {
      int at = open + 2;
      if (at < source.length() && "+-".indexOf(source.charAt(at)) >= 0) {
        at++;
      }
      at = PythonStrings.skipSpace(source, at);
      if (source.startsWith("endraw", at)) {
        at = PythonStrings.skipSpace(source, at + 6);
        int end = source.startsWith("%}", at) ? at : at + 1;
        if (source.startsWith("%}", end) && (end == at || "+-".indexOf(source.charAt(at)) >= 0)) {
          position = body;
          data(before(open));
          position = end + 2;
          closed(source.charAt(end - 1), true);
          return;
        }
      }
      open = source.indexOf("{%", open + 1);
    }
    throw error("a raw block without its '{% endraw %}'");
  }

  private void tag(boolean block) {
    String close = block ? "%}" : "}}";
    add(block ? Kind.BLOCK_BEGIN : Kind.PRINT_BEGIN, "");
    closingBrackets.clear();
    skipSpace();
    int end = endOfTag(close, block);
    while (end < 0) {
      if (position >= source.length()) {
        throw error("a tag without its '" + close + "'");
      }
      token();
      skipSpace();
      end = endOfTag(close, block);
    }
    add(block ? Kind.BLOCK_END : Kind.PRINT_END, "");
    position = end;
    closed(source.charAt(end - 3), block);
  }

  private void skipSpace() {
    position = PythonStrings.skipSpace(source, position);
    countLines();
  }

  /** Returns the position after the closing marker, or -1 if the tag goes on. */
  private int endOfTag(String close, boolean block) {
    // Inside brackets '}}' closes dictionaries, not the tag.
    if (!closingBrackets.isEmpty()) {
      return -1;
    }
    int at = at('-') || block && at('+') ? position + 1 : position;
    return source.startsWith(close, at) ? at + close.length() : -1;
  }

  private void token() {
    int point = source.codePointAt(position);
    Kind kind;
    Object value;
    if (isDigit(position)) {
      kind = Kind.NUMBER;
      value = number();
    } else if (point == '_' || Character.isUnicodeIdentifierStart(point)) {
      kind = Kind.NAME;
      value = name();
    } else if (point == '\'' || point == '"') {
      kind = Kind.STRING;
      value = string((char) point);
    } else {
      kind = Kind.OPERATOR;
      value = operator();
    }
    tokens.add(new Token(kind, value, line));
  }

  private String name() {
    int start = position;
    while (position < source.length() && isNamePart(source.codePointAt(position))) {
      position += Character.charCount(source.codePointAt(position));
    }
    return source.substring(start, position);
  }

  private static boolean isNamePart(int point) {
    return Character.isUnicodeIdentifierPart(point) && !Character.isIdentifierIgnorable(point);
  }

  private Object number() {
    int start = position;
    skipDigits(position);
    // In a.0.1 both numbers are indices.
    boolean index = source.charAt(start - 1) == '.';
    boolean real = false;
    if (!index && at('.')) {
      real = skipDigits(position + 1);
    }
    if (!index && (at('e') || at('E'))) {
      int sign = position + 1;
      boolean signed = sign < source.length() && "+-".indexOf(source.charAt(sign)) >= 0;
      real |= skipDigits(signed ? sign + 1 : sign);
    }
    String digits = source.substring(start, position);
    try {
      return real ? (Object) Double.valueOf(digits) : Long.valueOf(digits);
    } catch (NumberFormatException _) {
      throw error("the integer " + digits + ", which needs more than 64 bits");
    }
  }

  /** Moves behind the digits that start at {@code from}, unless there are none. */
  private boolean skipDigits(int from) {
    int end = from;
    while (isDigit(end)) {
      end++;
    }
    if (end > from) {
      position = end;
    }
    return end > from;
  }

  private boolean isDigit(int at) {
    return at < source.length() && source.charAt(at) >= '0' && source.charAt(at) <= '9';
  }

  private String string(char quote) {
    var text = new StringBuilder();
    position++;
    while (position < source.length() && !at(quote)) {
      char character = source.charAt(position++);
      if (character == '\\' && position < source.length()) {
        escape(source.charAt(position++), text);
      } else {
        text.append(character);
      }
    }
    if (position >= source.length()) {
      throw error("a string without its closing " + quote);
    }
    position++;
    return text.toString();
  }

  /** Resolves an escape like Python; an unknown one stays as written. */
  private void escape(char letter, StringBuilder text) {
    switch (letter) {
      case '\n' -> {}
      case '\\', '\'', '"' -> text.append(letter);
      case 'n' -> text.append('\n');
      case 't' -> text.append('\t');
      case 'r' -> text.append('\r');
      case 'a' -> text.append((char) 0x07);
      case 'b' -> text.append('\b');
      case 'f' -> text.append('\f');
      case 'v' -> text.append((char) 0x0B);
      case 'x' -> text.appendCodePoint(hexadecimal(2));
      case 'u' -> text.appendCodePoint(hexadecimal(4));
      case 'U' -> text.appendCodePoint(hexadecimal(8));
      case '0', '1', '2', '3', '4', '5', '6', '7' -> text.append((char) octal());
      case 'N' -> throw error("the escape \\N in a string; \\u and \\U are supported");
      default -> text.append('\\').append(letter);
    }
  }

  private int hexadecimal(int digits) {
    int point = 0;
    for (int i = 0; i < digits; i++) {
      int digit = position < source.length() ? Character.digit(source.charAt(position++), 16) : -1;
      if (digit < 0 || point > Character.MAX_CODE_POINT >> 4) {
        throw error("a string escape that is not " + digits + " digits of a character");
      }
      point = point << 4 | digit;
    }
    if (point > Character.MAX_CODE_POINT) {
      throw error("a string escape beyond the last character");
    }
    return point;
  }

  /** Reads up to three digits, of which the first has been passed. */
  private int octal() {
    int point = source.charAt(position - 1) - '0';
    for (int i = 0; i < 2 && isDigit(position) && source.charAt(position) < '8'; i++) {
      point = point * 8 + source.charAt(position++) - '0';
    }
    return point;
  }

  private String operator() {
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, position)) {
        balance(operator);
        position += operator.length();
        return operator;
      }
    }
    String character = Character.toString(source.codePointAt(position));
    throw error("the unexpected character " + PythonText.repr(character));
  }

  private void balance(String operator) {
    switch (operator) {
      case "(" -> closingBrackets.push(")");
      case "[" -> closingBrackets.push("]");
      case "{" -> closingBrackets.push("}");
      case ")", "]", "}" -> {
        String expected = closingBrackets.poll();
        if (!operator.equals(expected)) {
          String instead = expected == null ? "" : " where '" + expected + "' was expected";
          throw error("an unexpected '" + operator + "'" + instead);
        }
      }
      default -> {}
    }
  }

  /** Skips the white space that a tag removes after it. */
  private void closed(char sign, boolean takesNewline) {
    if (sign == '-') {
      position = PythonStrings.skipSpace(source, position);
    } else if (takesNewline && sign != '+' && at('\n')) {
      position++;
    }
  }

  private boolean at(char expected) {
    return position < source.length() && source.charAt(position) == expected;
  }

  private void data(String text) {
    if (!text.isEmpty()) {
      add(Kind.DATA, text);
    }
  }

  private void add(Kind kind, Object value) {
    countLines();
    tokens.add(new Token(kind, value, line));
  }

  private void countLines() {
    for (; counted < Math.min(position, source.length()); counted++) {
      if (source.charAt(counted) == '\n') {
        line++;
      }
    }
  }

  private TemplateException error(String found) {
    return new TemplateException(name, line, found);
  }
}
