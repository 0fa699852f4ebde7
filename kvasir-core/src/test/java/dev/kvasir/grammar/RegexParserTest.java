package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegexParserTest {
  /** The test uses all texts of up to four of these. */
  private static final List<String> LETTERS = List.of("a", "b", "1", "-", "\"", "\n", "\u00E9");

  private static List<String> texts() {
    List<String> all = new ArrayList<>(List.of(""));
    for (int from = 0, length = 0; length < 4; length++) {
      int to = all.size();
      for (; from < to; from++) {
        for (String letter : LETTERS) {
          all.add(all.get(from) + letter);
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "^$",
        "a",
        "^a",
        "a\\Z",
        "^a|b\\Z",
        "^(a|b)*1\\Z",
        "^[ab]{2}\\Z",
        "^[^a-b]{2,3}\\Z",
        "^a{2,}\\Z",
        "^.+\\Z",
        "^\\d?\\w+?\\Z",
        "^\\D\\W\\Z",
        "^\\S*\\s\\S*\\Z",
        "^(?:a(b(1)?)?)?-\\Z",
        "^(?<name>a)b\\Z",
        "^[\\d\\-]+\\Z",
        "^[-a]+\\Z",
        "^[\\x61\\u0062]+\\Z",
        "^()a\\Z",
        "^(a|)b\\Z",
        "^(a*)*b\\Z",
        "\\n"
      })
  void aStringIsInThePatternWhereJavaFindsIt(String java) {
    // Java's $ also matches before a final line end; ours and ECMA's does not.
    String pattern = java.replace("\\Z", "$");
    Pattern expected = Pattern.compile(java.replace("\\Z", "\\z").replace("^$", "^\\z"));
    AcceptedTexts texts =
        AcceptedTexts.of(
            new Grammar(
                GrammarExpression.sequence(
                    JsonExpressions.QUOTE, RegexParser.read(pattern, "#"), JsonExpressions.QUOTE)));
    for (String text : texts()) {
      assertThat(texts.contains(new JsonPrimitive(text).toString()))
          .as("'%s' in %s", text, pattern)
          .isEqualTo(expected.matcher(text).find());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a(?=b)",
        "(?!a)",
        "(?<=a)b",
        "(a)\\1",
        "\\bword",
        "a++",
        "a**",
        "*a",
        "(a",
        "a)",
        "[a",
        "a{2,1}",
        "a{,2}",
        "a{99999}",
        "(^a)",
        "(a$)b",
        "a^b",
        "a$b",
        "\\p{L}",
        "[b-a]",
        "[]",
        "[a-\\d]",
        "\\",
        "\\u12",
        "\\ud83d",
        "\\k<a>",
        "\\cA",
        "{2}"
      })
  void nonRegularAndInvalidPatternsAreRefused(String pattern) {
    assertThatThrownBy(() -> RegexParser.read(pattern, "#/properties/a"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("the pattern '%s' at #/properties/a has ", pattern)
        .hasMessageEndingWith(
            "; expected alternatives, groups, classes, quantifiers up to 10000 and anchors at its"
                + " ends");
  }

  @Test
  void nestedGroupsAreBounded() {
    String deep = "(".repeat(100_000) + ")".repeat(100_000);
    assertThatThrownBy(() -> RegexParser.read(deep, "#"))
        .hasMessageContaining("has more than 50 groups in each other");
  }

  @Test
  void nestedRepetitionsTakeNoMoreThanTheirSum() {
    AcceptedTexts many =
        AcceptedTexts.ofSchema("{'type': 'string', 'pattern': '^(((a{90}){90}){90}){90}$'}");
    assertThat(many.hasPrefix("\"" + "a".repeat(2000))).isTrue();
  }
}
