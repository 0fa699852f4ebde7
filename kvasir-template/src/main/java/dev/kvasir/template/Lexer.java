package dev.kvasir.template;

import dev.kvasir.template.TokenStream.Kind;
import dev.kvasir.template.TokenStream.Token;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits a template into text and tags, and tags into names, literals and operators.
 *
 * <p>White space follows Jinja with {@code trim_blocks} and {@code lstrip_blocks}, the settings of
 * chat templates. The newline after a block or comment and the indentation before it are removed. A
 * minus sign in a tag removes all white space on its side, and a plus sign keeps it. One newline at
 * the end of the source is removed.
 */
final class Lexer {
  private static final Pattern OPEN = Pattern.compile("\\{[{%#]");
  private static final Pattern RAW = Pattern.compile("\\s*raw\\s*(-?)%\\}");
  private static final Pattern END_RAW = Pattern.compile("\\{%[-+]?\\s*endraw\\s*([-+]?)%\\}");
  private static final Pattern OPERATOR =
      Pattern.compile("\\*\\*|//|[=!<>]=|[-+*/%~<>=.:|,;()\\[\\]{}]");
  private static final Pattern NUMBER = Pattern.compile("[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?");
  private static final Pattern INDEX = Pattern.compile("[0-9]+");

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
    Matcher tag = OPEN.matcher(source);
    if (!tag.find(position)) {
      data(source.substring(position));
      position = source.length();
      return;
    }
    data(before(tag.start()));
    position = tag.end();
    countLines();
    if (at('-') || at('+')) {
      position++;
    }
    switch (tag.group()) {
      case "{#" -> comment();
      case "{{" -> tag(false);
      default -> {
        if (!raw()) {
          tag(true);
        }
      }
    }
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

  /** Takes a raw block, or returns false if this is another tag. */
  private boolean raw() {
    Matcher begin = match(RAW);
    if (begin == null) {
      return false;
    }
    int end = begin.end();
    int body = begin.group(1).isEmpty() ? end : PythonStrings.skipSpace(source, end);
    Matcher close = END_RAW.matcher(source);
    if (!close.find(body)) {
      throw error("a raw block without its '{% endraw %}'");
    }
    position = body;
    data(before(close.start()));
    position = close.end();
    closed(source.charAt(position - 3), true);
    return true;
  }

  /** Returns the match at the position, or null if there is none. */
  private Matcher match(Pattern pattern) {
    Matcher matcher = pattern.matcher(source).region(position, source.length());
    return matcher.lookingAt() ? matcher : null;
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
    if (point >= '0' && point <= '9') {
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
    // In a.0.1 both numbers are indices.
    Matcher number = match(source.charAt(position - 1) == '.' ? INDEX : NUMBER);
    String digits = number.group();
    position = number.end();
    try {
      boolean integer = INDEX.matcher(digits).matches();
      return integer ? (Object) Long.valueOf(digits) : Double.valueOf(digits);
    } catch (NumberFormatException _) {
      throw error("the integer " + digits + ", which needs more than 64 bits");
    }
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
    int end = Math.min(position + digits, source.length());
    String hexadecimal = source.substring(position, end);
    position = end;
    if (!hexadecimal.matches("[0-9a-fA-F]{" + digits + "}")) {
      throw error("a string escape that is not " + digits + " digits of a character");
    }
    long point = Long.parseLong(hexadecimal, 16);
    if (point > Character.MAX_CODE_POINT) {
      throw error("a string escape beyond the last character");
    }
    return (int) point;
  }

  /** Reads up to three digits, of which the first has been passed. */
  private int octal() {
    int start = position - 1;
    int end = Math.min(start + 3, source.length());
    while (position < end && source.charAt(position) >= '0' && source.charAt(position) <= '7') {
      position++;
    }
    return Integer.parseInt(source.substring(start, position), 8);
  }

  private String operator() {
    Matcher operator = match(OPERATOR);
    if (operator == null) {
      String character = Character.toString(source.codePointAt(position));
      throw error("the unexpected character " + PythonText.repr(character));
    }
    balance(operator.group());
    position = operator.end();
    return operator.group();
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
