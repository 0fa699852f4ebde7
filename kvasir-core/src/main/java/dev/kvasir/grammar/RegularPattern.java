package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;

/**
 * A regular expression of ECMA 262, as JSON Schema takes them, as far as it says something regular:
 * alternatives, groups, classes, quantifiers, and anchors at its ends. The texts it stands for are
 * the insides of JSON strings.
 */
final class RegularPattern {
  private static final int DEEPEST = 50;
  private static final int MOST_COPIES = 10_000;

  private static final Expression ANYTHING =
      Expression.repeat(JsonText.CHARACTER, 0, Expression.ENDLESS);

  private final String pattern;
  private final String pointer;
  private int at;
  private int depth;

  private RegularPattern(String pattern, String pointer) {
    this.pattern = pattern;
    this.pointer = pointer;
  }

  /** The insides of strings in which the pattern is found. */
  static Expression read(String pattern, String pointer) {
    return new RegularPattern(pattern, pointer).readAll();
  }

  private Expression readAll() {
    List<Expression> found = new ArrayList<>();
    do {
      boolean fromStart = take("^");
      Expression body = readSequence();
      boolean toEnd = take("$");
      List<Expression> parts = new ArrayList<>(List.of(body));
      if (!fromStart) {
        parts.addFirst(ANYTHING);
      }
      if (!toEnd) {
        parts.addLast(ANYTHING);
      }
      found.add(new Expression.Sequence(parts));
    } while (take("|"));
    if (at < pattern.length()) {
      throw refusal("'%s' where it is".formatted(pattern.charAt(at)));
    }
    return new Expression.Choice(found);
  }

  private Expression readChoice() {
    List<Expression> alternatives = new ArrayList<>();
    do {
      alternatives.add(readSequence());
    } while (take("|"));
    return new Expression.Choice(alternatives);
  }

  private Expression readSequence() {
    List<Expression> parts = new ArrayList<>();
    while (at < pattern.length() && "|)$^".indexOf(pattern.charAt(at)) < 0) {
      parts.add(readQuantified());
    }
    return new Expression.Sequence(parts);
  }

  private Expression readQuantified() {
    Expression part = readPart();
    int[] counts = readCounts();
    if (counts == null) {
      return part;
    }
    take("?"); // the same texts, in another order of trying
    if (at < pattern.length() && "*+?{".indexOf(pattern.charAt(at)) >= 0) {
      throw refusal("a quantifier of a quantifier");
    }
    return Expression.repeat(part, counts[0], counts[1]);
  }

  /** The least and the most; null where there is no quantifier. */
  private int[] readCounts() {
    if (take("*")) {
      return new int[] {0, Expression.ENDLESS};
    }
    if (take("+")) {
      return new int[] {1, Expression.ENDLESS};
    }
    if (take("?")) {
      return new int[] {0, 1};
    }
    if (!take("{")) {
      return null;
    }
    int least = readCount();
    int most = !take(",") ? least : next() == '}' ? Expression.ENDLESS : readCount();
    if (!take("}") || most < least) {
      throw refusal("its quantifier in braces");
    }
    return new int[] {least, most};
  }

  private int readCount() {
    int from = at;
    int count = 0;
    while (next() >= '0' && next() <= '9' && count <= MOST_COPIES) {
      count = 10 * count + (pattern.charAt(at++) - '0');
    }
    if (at == from || count > MOST_COPIES) {
      throw refusal("its quantifier in braces");
    }
    return count;
  }

  private Expression readPart() {
    if (take("(")) {
      return readGroup();
    }
    if (next() == '[' || next() == '\\' || next() == '.') {
      return JsonText.inString(
          new PatternClass(pattern, at, this::refusal, end -> at = end).read());
    }
    if (next() == '*' || next() == '+' || next() == '?' || next() == '{') {
      throw refusal("a quantifier of nothing");
    }
    int codePoint = pattern.codePointAt(at);
    at += Character.charCount(codePoint);
    return JsonText.inString(CodePoints.of(codePoint));
  }

  private Expression readGroup() {
    if (take("?")) {
      boolean isNamed =
          next() == '<' && !pattern.startsWith("<=", at) && !pattern.startsWith("<!", at);
      if (isNamed) {
        int end = pattern.indexOf('>', at);
        at = end < 0 ? pattern.length() : end + 1;
      } else if (!take(":")) {
        throw refusal("a group that looks around");
      }
    }
    if (++depth > DEEPEST) {
      throw refusal("more than %d groups in each other".formatted(DEEPEST));
    }
    Expression inside = readChoice();
    depth--;
    if (!take(")")) {
      throw refusal("a group without its end, or an anchor in it");
    }
    return inside;
  }

  private boolean take(String text) {
    boolean found = pattern.startsWith(text, at);
    at += found ? text.length() : 0;
    return found;
  }

  private char next() {
    return at < pattern.length() ? pattern.charAt(at) : 0;
  }

  private InvalidInputException refusal(String what) {
    return new InvalidInputException(
        "the pattern '%s' at %s has %s; expected alternatives, groups, classes, quantifiers up to %d and anchors at its ends"
            .formatted(pattern, pointer, what, MOST_COPIES));
  }
}
