package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.List;

/**
 * The set of texts that a model may generate. A tool call is a sequence of a literal, a {@link
 * JsonGrammar} and another literal; several calls are a repetition of a choice.
 */
public final class Grammar {
  private final GrammarExpression expression;
  private Automaton automaton;

  Grammar(GrammarExpression expression) {
    this.expression = expression;
  }

  /**
   * Returns a grammar of this text alone. It is generated as text tokens, never as special tokens.
   */
  public static Grammar literal(String text) {
    return new Grammar(GrammarExpression.literal(text));
  }

  /**
   * Returns the texts that a regular expression matches as a whole.
   *
   * @throws InvalidInputException if it has an unsupported part; docs/grammar.md lists what is
   *     supported
   */
  public static Grammar regex(String pattern) {
    return new Grammar(RegexParser.readWhole(pattern));
  }

  /**
   * Returns the texts of the rule {@code root} of a grammar in llama.cpp's notation GBNF.
   *
   * @throws InvalidInputException if it is no such grammar
   */
  public static Grammar gbnf(String rules) {
    return new Grammar(GbnfParser.read(rules));
  }

  /** Returns a grammar of one special token, which has this text in the vocabulary. */
  public static Grammar special(String token) {
    return new Grammar(new GrammarExpression.Literal(TokenTrie.specialBytes(token)));
  }

  /**
   * Returns the texts that do not contain a delimiter, and end where it may begin. A few more are
   * left out: those with a part of the delimiter directly before another beginning of it.
   */
  public static Grammar textWithout(String delimiter) {
    return new Grammar(DelimitedText.without(delimiter));
  }

  /** Returns any text. */
  public static Grammar anyText() {
    return new Grammar(
        GrammarExpression.repeat(
            new GrammarExpression.CharacterClass(CodePoints.ALL), 0, GrammarExpression.UNBOUNDED));
  }

  /** Returns the concatenation of grammars. */
  public static Grammar sequence(Grammar... parts) {
    return new Grammar(new GrammarExpression.Sequence(expressions(parts)));
  }

  /** Returns the union of grammars. */
  public static Grammar choice(Grammar... alternatives) {
    return new Grammar(new GrammarExpression.Choice(expressions(alternatives)));
  }

  /** Returns {@code min} to {@code max} repetitions of this grammar. */
  public Grammar repeated(int min, int max) {
    if (min < 0 || max < min) {
      throw new IllegalArgumentException(
          "repetitions are %d to %d; expected 0 or more, and the least first".formatted(min, max));
    }
    return new Grammar(GrammarExpression.repeat(expression, min, max));
  }

  private static List<GrammarExpression> expressions(Grammar[] grammars) {
    return Arrays.stream(grammars).map(grammar -> grammar.expression).toList();
  }

  /** Returns this grammar over the tokens of a model. */
  public TokenGrammar forTokenizer(Tokenizer tokenizer) {
    return new TokenGrammar(automaton(), tokenizer);
  }

  synchronized Automaton automaton() {
    if (automaton == null) {
      automaton = AutomatonBuilder.build(expression);
      if (!automaton.isNonEmpty()) {
        throw new InvalidInputException(
            "the grammar has no text that nests less than %d deep; expected one that can end"
                .formatted(Automaton.MAX_DEPTH));
      }
    }
    return automaton;
  }
}
