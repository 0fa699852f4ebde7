package dev.kvasir.template;

import java.util.function.Function;

/** Resolves the escapes of a string literal like Python; an unknown escape stays as written. */
final class StringLiteral {
  private final String raw;
  private final Function<String, TemplateException> error;
  private final StringBuilder out = new StringBuilder();
  private int position;

  private StringLiteral(String raw, Function<String, TemplateException> error) {
    this.raw = raw;
    this.error = error;
  }

  static String unescape(String raw, Function<String, TemplateException> error) {
    return raw.indexOf('\\') < 0 ? raw : new StringLiteral(raw, error).unescape();
  }

  private String unescape() {
    while (position < raw.length()) {
      char character = raw.charAt(position++);
      if (character == '\\' && position < raw.length()) {
        escape(raw.charAt(position++));
      } else {
        out.append(character);
      }
    }
    return out.toString();
  }

  private void escape(char letter) {
    switch (letter) {
      case '\n' -> {}
      case '\\', '\'', '"' -> out.append(letter);
      case 'n' -> out.append('\n');
      case 't' -> out.append('\t');
      case 'r' -> out.append('\r');
      case 'a' -> out.append((char) 0x07);
      case 'b' -> out.append('\b');
      case 'f' -> out.append('\f');
      case 'v' -> out.append((char) 0x0B);
      case 'x' -> hex(2);
      case 'u' -> hex(4);
      case 'U' -> hex(8);
      case '0', '1', '2', '3', '4', '5', '6', '7' -> octal();
      case 'N' -> throw error.apply("the escape \\N in a string; \\u and \\U are supported");
      default -> out.append('\\').append(letter);
    }
  }

  private void hex(int digits) {
    int end = position + digits;
    int point = 0;
    while (position < end) {
      int digit = position < raw.length() ? Character.digit(raw.charAt(position), 16) : -1;
      if (digit < 0 || point > Character.MAX_CODE_POINT >> 4) {
        throw error.apply("a string escape that is not " + digits + " digits of a character");
      }
      point = point << 4 | digit;
      position++;
    }
    if (point > Character.MAX_CODE_POINT) {
      throw error.apply("a string escape beyond the last character");
    }
    out.appendCodePoint(point);
  }

  private void octal() {
    int point = 0;
    int end = Math.min(position + 2, raw.length());
    position--;
    while (position < end && raw.charAt(position) >= '0' && raw.charAt(position) <= '7') {
      point = point * 8 + raw.charAt(position++) - '0';
    }
    out.append((char) point);
  }
}
