package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GbnfParserTest {
  private static AcceptedTexts texts(String rules) {
    return AcceptedTexts.of(Grammar.gbnf(rules));
  }

  @Test
  void aGrammarOfMovesIsRead() {
    AcceptedTexts moves =
        texts(
            """
            # a game of chess
            root    ::= "1. " move " " move "\\n" ([1-9] [0-9]? ". " move " " move "\\n")+
            move    ::= (pawn | nonpawn
              | castle) [+#]?
            nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
            pawn    ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
            castle  ::= "O-O" "-O"?
            """);
    assertThat(moves.contains("1. e4 e5\n2. Nf3 O-O-O+\n")).isTrue();
    assertThat(moves.contains("1. e4 e5\n")).isFalse();
    assertThat(moves.hasPrefix("1. e9")).isFalse();
  }

  @Test
  void recursionAndCountsAreRead() {
    AcceptedTexts sums =
        texts("root ::= term (\"+\" term)*\nterm ::= [0-9]{1,2} | \"(\" root \")\"");
    assertThat(sums.contains("1+(22+(3))")).isTrue();
    assertThat(sums.contains("1+(22")).isFalse();
    AcceptedTexts list = texts("root ::= \"a\" | \"a,\" root"); // a tail call needs no stack
    assertThat(list.contains("a,".repeat(1000) + "a")).isTrue();
    AcceptedTexts left = texts("root ::= root \"a\" | \"b\"");
    assertThat(left.contains("baaa")).isTrue();
    AcceptedTexts counts = texts("root ::= \"a\"{2} \"b\"{,2} \"c\"{1,}");
    assertThat(counts.contains("aabbcc")).isTrue();
    assertThat(counts.contains("abc")).isFalse();
  }

  @Test
  void classesAndEscapesAreRead() {
    AcceptedTexts texts = texts("root ::= [^a-c\\n] . \"\\x41\\u00e9\\\"\" [\\]\\-x-]");
    assertThat(texts.contains("d\nA\u00e9\"]")).isTrue();
    assertThat(texts.contains("zzA\u00e9\"-")).isTrue();
    assertThat(texts.contains("azA\u00e9\"x")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "a ::= \"x\" | the grammar has no rule 'root'",
        "root ::= a | the grammar uses the rule 'a', which it does not define",
        "root ::= \"x | line 1 of the grammar has no end; expected rules of GBNF",
        "root ::= (a | line 1 of the grammar has a group without its end; expected",
        "root ::= [b-a] | line 1 of the grammar has a range in a class that runs backwards",
        "root ::= \"x\"{99999} | has a number of repetitions that is not from 0 to 10000",
        "root ::= \"\\q\" | line 1 of the grammar has an unknown escape",
        "root ::= \"x\" root ::= \"y\" | has a second rule 'root'",
        "root ::= root | the grammar has no text that nests less than 128 deep",
      })
  void errorsAreOneSentence(String rules, String sentence) {
    assertThatThrownBy(() -> Grammar.gbnf(rules).automaton())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(sentence);
  }

  /** Every rule calls the next one in two ways, so there are 2^60 stacks above the last one. */
  @Test
  void manyWaysToTheSameTextAreBounded() {
    StringBuilder rules = new StringBuilder("root ::= r0 \"!\"\n");
    for (int i = 0; i < 60; i++) {
      rules.append("r%d ::= r%d \"x\" | r%d \"y\"\n".formatted(i, i + 1, i + 1));
    }
    rules.append("r60 ::= \"z\"");
    AcceptedTexts texts = texts(rules.toString());
    assertThat(texts.hasPrefix("z")).isTrue();
    assertThatThrownBy(() -> Grammar.gbnf("root ::= " + "(".repeat(60)))
        .hasMessageContaining("more than 50 groups in each other");
    assertThatThrownBy(() -> Grammar.gbnf("#".repeat(70_000)))
        .hasMessage("the grammar has 70000 characters; expected at most 65536");
  }

  @Test
  void aPatternMatchesWholeTexts() {
    AcceptedTexts texts = AcceptedTexts.of(Grammar.regex("\\d{3}-(?:a|\"b\")+|x"));
    assertThat(texts.contains("123-a\"b\"")).isTrue();
    assertThat(texts.contains("x")).isTrue();
    assertThat(texts.contains(" x")).isFalse();
    assertThat(AcceptedTexts.of(Grammar.regex("^a$")).contains("a")).isTrue();
    assertThatThrownBy(() -> Grammar.regex("(?=a)b"))
        .hasMessageStartingWith("the pattern '(?=a)b' has a group that looks around; expected");
  }
}
