package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Parses the regular part of ECMA 262 expressions, which JSON Schema uses: alternatives, groups,
 * classes, quantifiers, and anchors at the ends. The result matches the contents of JSON strings,
 * or plain text.
 */
final class RegexParser {
  private static final int MAX_DEPTH = 50;
  private static final int MAX_COPIES = 10_000;
  private static final int MAX_LENGTH = 1 << 14;

  private static final GrammarExpression ANYTHING =
      GrammarExpression.repeat(JsonExpressions.CHARACTER, 0, GrammarExpression.UNBOUNDED);

  private final String pattern;
  private final String pointer;
  private final boolean matchesWhole;
  private final Function<CodePoints, GrammarExpression> characters;
  private int at;
  private int depth;

  private RegexParser(
      String pattern,
      String pointer,
      boolean matchesWhole,
      Function<CodePoints, GrammarExpression> characters) {
    this.pattern = pattern;
    this.pointer = pointer;
    this.matchesWhole = matchesWhole;
    this.characters = characters;
  }

  /** Returns the contents of strings that contain a match. */
  static GrammarExpression read(String pattern, String pointer) {
    return new RegexParser(pattern, pointer, false, JsonExpressions::inString).readAll();
  }

  /** Returns the texts that the pattern matches from their beginning to their end. */
  static GrammarExpression readWhole(String pattern) {
    if (pattern.length() > MAX_LENGTH) {
      throw new InvalidInputException(
          "the pattern has %d characters; expected at most %d"
              .formatted(pattern.length(), MAX_LENGTH));
    }
    return new RegexParser(pattern, "", true, GrammarExpression.CharacterClass::new).readAll();
  }

  private GrammarExpression readAll() {
    List<GrammarExpression> found = new ArrayList<>();
    do {
      boolean fromStart = take("^");
      GrammarExpression body = readSequence();
      boolean toEnd = take("$");
      List<GrammarExpression> parts = new ArrayList<>(List.of(body));
      if (!fromStart && !matchesWhole) {
        parts.addFirst(ANYTHING);
      }
      if (!toEnd && !matchesWhole) {
        parts.addLast(ANYTHING);
      }
      found.add(new GrammarExpression.Sequence(parts));
    } while (take("|"));
    if (at < pattern.length()) {
      throw refusal("'%s' where it is".formatted(pattern.charAt(at)));
    }
    return new GrammarExpression.Choice(found);
  }

  private GrammarExpression readChoice() {
    List<GrammarExpression> alternatives = new ArrayList<>();
    do {
      alternatives.add(readSequence());
    } while (take("|"));
    return new GrammarExpression.Choice(alternatives);
  }

  private GrammarExpression readSequence() {
    List<GrammarExpression> parts = new ArrayList<>();
    while (at < pattern.length() && "|)$^".indexOf(pattern.charAt(at)) < 0) {
      parts.add(readQuantified());
    }
    return new GrammarExpression.Sequence(parts);
  }

  private GrammarExpression readQuantified() {
    GrammarExpression part = readPart();
    int[] counts = readCounts();
    if (counts == null) {
      return part;
    }
    take("?"); // lazy quantifiers match the same texts
    if (at < pattern.length() && "*+?{".indexOf(pattern.charAt(at)) >= 0) {
      throw refusal("a quantifier of a quantifier");
    }
    return GrammarExpression.repeat(part, counts[0], counts[1]);
  }

  /** Returns the minimum and the maximum; null without a quantifier. */
  private int[] readCounts() {
    if (take("*")) {
      return new int[] {0, GrammarExpression.UNBOUNDED};
    }
    if (take("+")) {
      return new int[] {1, GrammarExpression.UNBOUNDED};
    }
    if (take("?")) {
      return new int[] {0, 1};
    }
    if (!take("{")) {
      return null;
    }
    int min = readCount();
    int max = !take(",") ? min : next() == '}' ? GrammarExpression.UNBOUNDED : readCount();
    if (!take("}") || max < min) {
      throw refusal("its quantifier in braces");
    }
    return new int[] {min, max};
  }

  private int readCount() {
    int from = at;
    int count = 0;
    while (next() >= '0' && next() <= '9' && count <= MAX_COPIES) {
      count = 10 * count + (pattern.charAt(at++) - '0');
    }
    if (at == from || count > MAX_COPIES) {
      throw refusal("its quantifier in braces");
    }
    return count;
  }

  private GrammarExpression readPart() {
    if (take("(")) {
      return readGroup();
    }
    if (next() == '[' || next() == '\\' || next() == '.') {
      return characters.apply(
          new RegexCharacterClass(pattern, at, this::refusal, end -> at = end).read());
    }
    if (next() == '*' || next() == '+' || next() == '?' || next() == '{') {
      throw refusal("a quantifier of nothing");
    }
    int codePoint = pattern.codePointAt(at);
    at += Character.charCount(codePoint);
    return characters.apply(CodePoints.of(codePoint));
  }

  private GrammarExpression readGroup() {
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
    if (++depth > MAX_DEPTH) {
      throw refusal("more than %d groups in each other".formatted(MAX_DEPTH));
    }
    GrammarExpression inside = readChoice();
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
        "the pattern '%s'%s has %s; expected alternatives, groups, classes, quantifiers up to %d and anchors at its ends"
            .formatted(pattern, pointer.isEmpty() ? "" : " at " + pointer, what, MAX_COPIES));
  }
}
