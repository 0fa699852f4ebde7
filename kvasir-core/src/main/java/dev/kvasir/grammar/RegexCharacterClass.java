package dev.kvasir.grammar;

import java.util.function.Function;
import java.util.function.IntConsumer;

/** Parses a character class of a regular expression: a dot, an escape, or brackets. */
final class RegexCharacterClass {
  private static final CodePoints LINE_ENDS = CodePoints.of("\n\r\u2028\u2029");
  private static final CodePoints WORD =
      JsonExpressions.DIGITS
          .or(CodePoints.range('a', 'z'))
          .or(CodePoints.range('A', 'Z'))
          .or(CodePoints.of('_'));

  /** White space and line terminators of ECMA 262. */
  private static final CodePoints SPACE =
      LINE_ENDS
          .or(CodePoints.of("\t\u000B\f \u00A0\u1680\u202F\u205F\u3000\uFEFF"))
          .or(CodePoints.range(0x2000, 0x200A));

  private final String pattern;
  private final Function<String, RuntimeException> refusal;
  private final IntConsumer end;
  private int at;

  /**
   * @param refusal creates the exception for an unsupported part
   * @param end receives the end of the class
   */
  RegexCharacterClass(
      String pattern, int at, Function<String, RuntimeException> refusal, IntConsumer end) {
    this.pattern = pattern;
    this.at = at;
    this.refusal = refusal;
    this.end = end;
  }

  CodePoints read() {
    CodePoints points =
        switch (take()) {
          case '.' -> LINE_ENDS.not();
          case '[' -> readBrackets();
          default -> readEscape(false);
        };
    if (points.isEmpty()) {
      throw refusal.apply("a class of no characters");
    }
    end.accept(at);
    return points;
  }

  private CodePoints readBrackets() {
    boolean negated = peek() == '^';
    at += negated ? 1 : 0;
    CodePoints all = CodePoints.NONE;
    while (peek() != ']') {
      CodePoints first = readMember();
      boolean isRange = peek() == '-' && at + 1 < pattern.length() && pattern.charAt(at + 1) != ']';
      if (isRange) {
        at++;
        first = CodePoints.range(single(first), single(readMember()));
        if (first.isEmpty()) {
          throw refusal.apply("a range in a class that runs backwards");
        }
      }
      all = all.or(first);
    }
    at++;
    return negated ? all.not() : all;
  }

  private CodePoints readMember() {
    int codePoint = take();
    return codePoint == '\\' ? readEscape(true) : CodePoints.of(codePoint);
  }

  private int single(CodePoints points) {
    boolean isSingle =
        points.ranges().size() == 1
            && points.ranges().getFirst().first() == points.ranges().getFirst().last();
    if (!isSingle) {
      throw refusal.apply("a range in a class that does not run from a character to another");
    }
    return points.ranges().getFirst().first();
  }

  private CodePoints readEscape(boolean inBrackets) {
    int escaped = take();
    return switch (escaped) {
      case 'd' -> JsonExpressions.DIGITS;
      case 'D' -> JsonExpressions.DIGITS.not();
      case 'w' -> WORD;
      case 'W' -> WORD.not();
      case 's' -> SPACE;
      case 'S' -> SPACE.not();
      case 'n' -> CodePoints.of('\n');
      case 'r' -> CodePoints.of('\r');
      case 't' -> CodePoints.of('\t');
      case 'f' -> CodePoints.of('\f');
      case 'v' -> CodePoints.of(0x0B);
      case 'x' -> CodePoints.of(readHex(2));
      case 'u' -> CodePoints.of(readHex(4));
      case 'b' -> {
        if (!inBrackets) {
          throw refusal.apply("'\\b'");
        }
        yield CodePoints.of('\b');
      }
      default -> {
        if (WORD.contains(escaped)) {
          throw refusal.apply("'\\%c'".formatted(escaped));
        }
        yield CodePoints.of(escaped);
      }
    };
  }

  private int readHex(int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = Character.digit(take(), 16);
      if (digit < 0) {
        throw refusal.apply("an escape that lacks hexadecimal digits");
      }
      value = 16 * value + digit;
    }
    return value;
  }

  private int peek() {
    if (at >= pattern.length()) {
      throw refusal.apply("a class or an escape without its end");
    }
    return pattern.codePointAt(at);
  }

  private int take() {
    int codePoint = peek();
    at += Character.charCount(codePoint);
    return codePoint;
  }
}
