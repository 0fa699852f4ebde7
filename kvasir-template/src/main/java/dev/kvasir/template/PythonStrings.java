package dev.kvasir.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/** String operations that Python defines differently from Java. */
final class PythonStrings {
  private PythonStrings() {}

  /** Returns whether Python counts a character as white space; Java has fewer of them. */
  static boolean isSpace(int point) {
    return point >= 0x09 && point <= 0x0D
        || point >= 0x1C && point <= 0x1F
        || point == 0x85
        || Character.isSpaceChar(point);
  }

  /** Returns the end of the white space that starts at {@code from}. */
  static int skipSpace(String text, int from) {
    int at = from;
    while (at < text.length() && isSpace(text.charAt(at))) {
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

  /** Returns the characters that a strip removes: the given ones, or white space. */
  static IntPredicate members(String characters) {
    return characters == null ? PythonStrings::isSpace : point -> characters.indexOf(point) >= 0;
  }

  static String capitalize(String text) {
    if (text.isEmpty()) {
      return text;
    }
    int first = text.offsetByCodePoints(0, 1);
    return text.substring(0, first).toUpperCase(Locale.ROOT)
        + text.substring(first).toLowerCase(Locale.ROOT);
  }

  /** Capitalizes words, which start after a character of {@code separators}. */
  static String title(String text, IntPredicate separators) {
    var out = new StringBuilder();
    boolean start = true;
    for (int point : text.codePoints().toArray()) {
      String letter = Character.toString(point);
      out.append(start ? letter.toUpperCase(Locale.ROOT) : letter.toLowerCase(Locale.ROOT));
      start = separators.test(point);
    }
    return out.toString();
  }

  /** Replaces the first {@code count} occurrences, or all if it is negative. */
  static String replace(String text, String from, String to, long count, RenderBudget budget) {
    var out = new StringBuilder();
    int copied = 0;
    int at = text.indexOf(from);
    for (long done = 0; at >= 0 && (count < 0 || done < count); done++) {
      budget.chargeAppend(out.length(), (long) at - copied + to.length());
      out.append(text, copied, at).append(to);
      copied = at + from.length();
      int next = from.isEmpty() ? at + 1 : copied;
      at = next > text.length() ? -1 : text.indexOf(from, next);
    }
    budget.chargeAppend(out.length(), (long) text.length() - copied);
    return out.append(text, copied, text.length()).toString();
  }

  static String join(String separator, List<Object> elements, RenderBudget budget) {
    var out = new StringBuilder();
    for (int i = 0; i < elements.size(); i++) {
      String element = PythonText.str(elements.get(i));
      budget.chargeAppend(out.length(), (long) separator.length() + element.length());
      out.append(i == 0 ? "" : separator).append(element);
    }
    return out.toString();
  }

  static List<Object> lines(String text, boolean keepEnds) {
    var lines = new ArrayList<>();
    int start = 0;
    while (start < text.length()) {
      int end = start;
      while (end < text.length() && !breaksLine(text.charAt(end))) {
        end++;
      }
      int next = end < text.length() ? end + 1 : end;
      if (end + 1 < text.length() && text.charAt(end) == '\r' && text.charAt(next) == '\n') {
        next++;
      }
      lines.add(text.substring(start, keepEnds ? next : end));
      start = next;
    }
    return lines;
  }

  private static boolean breaksLine(char character) {
    return character >= '\n' && character <= '\r'
        || character >= 0x1C && character <= 0x1E
        || character == 0x85
        || character == 0x2028
        || character == 0x2029;
  }

  /** Splits at a separator; a negative limit means none. */
  static List<Object> split(String text, String separator, long limit) {
    if (separator == null) {
      return splitAtSpace(text, limit);
    }
    if (separator.isEmpty()) {
      throw new EvaluationException("an empty separator");
    }
    var parts = new ArrayList<>();
    int start = 0;
    int at = text.indexOf(separator);
    while (at >= 0 && (limit < 0 || parts.size() < limit)) {
      parts.add(text.substring(start, at));
      start = at + separator.length();
      at = text.indexOf(separator, start);
    }
    parts.add(text.substring(start));
    return parts;
  }

  private static List<Object> splitAtSpace(String text, long limit) {
    var parts = new ArrayList<>();
    int start = skipSpace(text, 0);
    while (start < text.length()) {
      if (limit >= 0 && parts.size() >= limit) {
        parts.add(text.substring(start));
        break;
      }
      int end = start;
      while (end < text.length() && !isSpace(text.charAt(end))) {
        end++;
      }
      parts.add(text.substring(start, end));
      start = skipSpace(text, end);
    }
    return parts;
  }

  /** Splits from the right: splits the reversed text from the left. */
  static List<Object> splitLast(String text, String separator, long limit) {
    List<Object> parts = split(reverse(text), separator == null ? null : reverse(separator), limit);
    parts.replaceAll(part -> reverse((String) part));
    return new ArrayList<>(parts.reversed());
  }

  private static String reverse(String text) {
    return new StringBuilder(text).reverse().toString();
  }

  /** Pads to {@code width} code points; the alignment is one of {@code < > ^}. */
  static String pad(String text, long width, String fill, char alignment, RenderBudget budget) {
    long missing = Math.max(0, width - text.codePointCount(0, text.length()));
    long before =
        switch (alignment) {
          case '<' -> 0;
          case '^' -> missing / 2;
          default -> missing;
        };
    return budget.repeat(fill, before) + text + budget.repeat(fill, missing - before);
  }
}
