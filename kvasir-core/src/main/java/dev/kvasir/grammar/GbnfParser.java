package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Parses llama.cpp's grammar notation GBNF:
 *
 * <pre>
 * root  ::= "yes" | list      # the text is an instance of root
 * list  ::= item ("," item){0,3}
 * item  ::= [a-z]+ | [^0-9\n] | .
 * </pre>
 *
 * White space, line ends included, separates symbols; a name before {@code ::=} begins a rule.
 */
final class GbnfParser {
  private static final int MAX_LENGTH = 1 << 16;
  private static final int MAX_DEPTH = 50;
  private static final int MAX_COPIES = 10_000;
  private static final String ROOT = "root";

  private final String text;
  private final Map<String, Rule> rules = new LinkedHashMap<>();
  private final Set<String> defined = new HashSet<>();
  private int at;
  private int depth;

  private GbnfParser(String text) {
    this.text = text;
  }

  /**
   * Returns the texts of the rule {@code root}.
   *
   * @throws InvalidInputException if the text is no grammar
   */
  static GrammarExpression read(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new InvalidInputException(
          "the grammar has %d characters; expected at most %d"
              .formatted(text.length(), MAX_LENGTH));
    }
    return new GbnfParser(text).readAll();
  }

  private GrammarExpression readAll() {
    skipSpace();
    while (at < text.length()) {
      String name = readName();
      if (!take("::=")) {
        throw refusal("a name without ::=");
      }
      if (!defined.add(name)) {
        throw refusal("a second rule '%s'".formatted(name));
      }
      rule(name).define(readChoice());
    }
    if (!defined.contains(ROOT)) {
      throw new InvalidInputException("the grammar has no rule '%s'".formatted(ROOT));
    }
    for (String name : rules.keySet()) {
      if (!defined.contains(name)) {
        throw new InvalidInputException(
            "the grammar uses the rule '%s', which it does not define".formatted(name));
      }
    }
    return new GrammarExpression.Call(rules.get(ROOT));
  }

  private Rule rule(String name) {
    return rules.computeIfAbsent(name, any -> new Rule());
  }

  private GrammarExpression readChoice() {
    if (++depth > MAX_DEPTH) {
      throw refusal("more than %d groups in each other".formatted(MAX_DEPTH));
    }
    List<GrammarExpression> alternatives = new ArrayList<>();
    do {
      alternatives.add(readSequence());
    } while (take("|"));
    depth--;
    return new GrammarExpression.Choice(alternatives);
  }

  private GrammarExpression readSequence() {
    List<GrammarExpression> parts = new ArrayList<>();
    while (at < text.length() && "|)".indexOf(text.charAt(at)) < 0 && !isRuleNext()) {
      parts.add(readQuantified());
    }
    return new GrammarExpression.Sequence(parts);
  }

  /** Returns whether a name and ::= follow. */
  private boolean isRuleNext() {
    int from = at;
    boolean isRule = isNameCharacter() && !readName().isEmpty() && text.startsWith("::=", at);
    at = from;
    return isRule;
  }

  private boolean isNameCharacter() {
    return at < text.length()
        && (Character.isLetterOrDigit(text.charAt(at)) || "-_".indexOf(text.charAt(at)) >= 0);
  }

  private String readName() {
    int from = at;
    while (isNameCharacter()) {
      at++;
    }
    if (at == from) {
      throw refusal("no name");
    }
    String name = text.substring(from, at);
    skipSpace();
    return name;
  }

  private GrammarExpression readQuantified() {
    GrammarExpression part = readPart();
    skipSpace();
    while (at < text.length() && "*+?{".indexOf(text.charAt(at)) >= 0) {
      int[] counts = readCounts();
      part = GrammarExpression.repeat(part, counts[0], counts[1]);
    }
    return part;
  }

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
    take("{");
    int min = next() == ',' ? 0 : readCount();
    int max = !take(",") ? min : next() == '}' ? GrammarExpression.UNBOUNDED : readCount();
    if (!take("}") || max < min) {
      throw refusal("a wrong number of repetitions");
    }
    return new int[] {min, max};
  }

  private int readCount() {
    int from = at;
    int count = 0;
    while (next() >= '0' && next() <= '9' && count <= MAX_COPIES) {
      count = 10 * count + (text.charAt(at++) - '0');
    }
    if (at == from || count > MAX_COPIES) {
      throw refusal("a number of repetitions that is not from 0 to %d".formatted(MAX_COPIES));
    }
    skipSpace();
    return count;
  }

  private GrammarExpression readPart() {
    if (take("(")) {
      GrammarExpression inside = readChoice();
      if (!take(")")) {
        throw refusal("a group without its end");
      }
      return inside;
    }
    return switch (next()) {
      case '"' -> readLiteral();
      case '[', '.' -> readClass();
      default -> new GrammarExpression.Call(rule(readName()));
    };
  }

  private GrammarExpression readLiteral() {
    at++;
    StringBuilder literal = new StringBuilder();
    while (next() != '"') {
      literal.appendCodePoint(readCharacter());
    }
    at++;
    return GrammarExpression.literal(literal.toString());
  }

  private GrammarExpression readClass() {
    if (text.charAt(at++) == '.') {
      return new GrammarExpression.CharacterClass(CodePoints.ALL);
    }
    boolean negated = next() == '^';
    at += negated ? 1 : 0;
    CodePoints points = CodePoints.NONE;
    while (next() != ']') {
      int first = readCharacter();
      boolean isRange = next() == '-' && !text.startsWith("-]", at);
      at += isRange ? 1 : 0;
      int last = isRange ? readCharacter() : first;
      if (last < first) {
        throw refusal("a range in a class that runs backwards");
      }
      points = points.or(CodePoints.range(first, last));
    }
    at++;
    CodePoints found = negated ? points.not() : points;
    if (found.isEmpty()) {
      throw refusal("a class of no characters");
    }
    return new GrammarExpression.CharacterClass(found);
  }

  /** Reads a character of a literal or a class, which may be escaped. */
  private int readCharacter() {
    int codePoint = readCodePoint();
    if (codePoint != '\\') {
      return codePoint;
    }
    int escaped = readCodePoint();
    return switch (escaped) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'x' -> readHex(2);
      case 'u' -> readHex(4);
      case 'U' -> readHex(8);
      case '\\', '"', '[', ']', '-', '^' -> escaped;
      default -> throw refusal("an unknown escape");
    };
  }

  private int readCodePoint() {
    if (at >= text.length()) {
      throw refusal("a text or a class without its end");
    }
    int codePoint = text.codePointAt(at);
    at += Character.charCount(codePoint);
    return codePoint;
  }

  private int readHex(int digits) {
    long value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = Character.digit(readCodePoint(), 16);
      value = digit < 0 ? Long.MAX_VALUE >> 8 : 16 * value + digit;
    }
    if (value > Character.MAX_CODE_POINT) {
      throw refusal("an escape that is no character");
    }
    return (int) value;
  }

  private char next() {
    if (at >= text.length()) {
      throw refusal("no end");
    }
    return text.charAt(at);
  }

  private boolean take(String symbol) {
    boolean found = text.startsWith(symbol, at);
    if (found) {
      at += symbol.length();
      skipSpace();
    }
    return found;
  }

  private void skipSpace() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '#') {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (Character.isWhitespace(c)) {
        at++;
      } else {
        return;
      }
    }
  }

  private InvalidInputException refusal(String what) {
    long line = text.substring(0, Math.min(at, text.length())).lines().count();
    return new InvalidInputException(
        "line %d of the grammar has %s; expected rules of GBNF, such as root ::= \"yes\" | \"no\""
            .formatted(Math.max(1, line), what));
  }
}
