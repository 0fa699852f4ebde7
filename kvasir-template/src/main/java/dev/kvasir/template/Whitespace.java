package dev.kvasir.template;

import java.util.function.IntPredicate;

/** Python's definition of white space, which is wider than Java's {@code isWhitespace}. */
final class Whitespace {
  private Whitespace() {}

  static boolean is(int point) {
    return point >= 0x09 && point <= 0x0D
        || point >= 0x1C && point <= 0x20
        || point == 0x85
        || point == 0xA0
        || point == 0x1680
        || point >= 0x2000 && point <= 0x200A
        || point == 0x2028
        || point == 0x2029
        || point == 0x202F
        || point == 0x205F
        || point == 0x3000;
  }

  /** Returns the end of the white space that starts at {@code from}. */
  static int skip(String text, int from) {
    int at = from;
    while (at < text.length() && is(text.charAt(at))) {
      at++;
    }
    return at;
  }

  static String strip(String text, IntPredicate drop) {
    return stripStart(stripEnd(text, drop), drop);
  }

  static String stripStart(String text, IntPredicate drop) {
    int start = 0;
    while (start < text.length() && drop.test(text.codePointAt(start))) {
      start += Character.charCount(text.codePointAt(start));
    }
    return text.substring(start);
  }

  static String stripEnd(String text, IntPredicate drop) {
    int end = text.length();
    while (end > 0 && drop.test(text.codePointBefore(end))) {
      end -= Character.charCount(text.codePointBefore(end));
    }
    return text.substring(0, end);
  }
}
