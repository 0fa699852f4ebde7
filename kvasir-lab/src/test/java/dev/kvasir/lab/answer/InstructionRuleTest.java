package dev.kvasir.lab.answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstructionRuleTest {
  private static JsonObject arguments(String json) {
    return JsonParser.parseString(json.isEmpty() ? "{}" : json).getAsJsonObject();
  }

  /**
   * Each line has an instruction, its arguments, an answer that follows it and one that does not.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      emptyValue = "",
      value = {
        "keywords:existence | {\"keywords\": [\"boat\", \"sea\"]} | A Boat at sea. | A boat.",
        "keywords:frequency | {\"keyword\": \"sea\", \"relation\": \"at least\", \"frequency\": 2}"
            + " | sea and sea | the sea",
        "keywords:forbidden_words | {\"forbidden_words\": [\"art\"]} | a party | modern art",
        "keywords:letter_frequency |"
            + " {\"letter\": \"z\", \"let_relation\": \"less than\", \"let_frequency\": 2}"
            + " | zoo | Zigzag",
        "language:response_language | {\"language\": \"ru\"} | привет мир | hello world",
        "length_constraints:number_sentences | {\"num_sentences\": 2, \"relation\": \"at least\"}"
            + " | One is 1.5 m. Two! | Only 1.5 m.",
        "length_constraints:number_words | {\"num_words\": 3, \"relation\": \"less than\"}"
            + " | two words | three little words",
        "length_constraints:number_paragraphs | {\"num_paragraphs\": 2} | one *** two | one",
        "detectable_content:number_placeholders | {\"num_placeholders\": 2} | [name] [day] |"
            + " [name]",
        "detectable_content:postscript | {\"postscript_marker\": \"P.S.\"} | Bye. P.S. More |"
            + " Bye. PS",
        "detectable_format:constrained_response | {} | My answer is no. | No.",
        "detectable_format:number_highlighted_sections | {\"num_highlights\": 2}"
            + " | *one* and **two** | *one*",
        "detectable_format:multiple_sections |"
            + " {\"section_spliter\": \"Part\", \"num_sections\": 2}"
            + " | Part 1 a Part 2 b | Part 1 a",
        "detectable_format:json_format | {} | ```json {\"a\": 1} ``` | {a: 1",
        "detectable_format:title | {} | <<A boat>> sails | <<>> sails",
        "combination:two_responses | {} | one ****** two | one ****** one",
        "combination:repeat_prompt | {\"prompt_to_repeat\": \"Say hi\"} | say hi hi | hi",
        "startend:end_checker | {\"end_phrase\": \"The end.\"} | It is the end. | The end. No",
        "startend:quotation | {} | \"quoted\" | \"open",
        "change_case:capital_word_frequency |"
            + " {\"capital_relation\": \"at least\", \"capital_frequency\": 2}"
            + " | A BIG boat | A boat",
        "change_case:english_capital | {} | LOUD | Loud",
        "change_case:english_lowercase | {} | quiet | Quiet",
        "punctuation:no_comma | {} | one two | one, two"
      })
  void instructionsTellAnswersApart(String name, String json, String follows, String fails) {
    InstructionRule rule = InstructionRule.of(name, arguments(json));
    assertThat(rule.isFollowedBy(follows)).as("%s: %s", name, follows).isTrue();
    assertThat(rule.isFollowedBy(fails)).as("%s: %s", name, fails).isFalse();
  }

  @Test
  void linesOfTheirOwnAreCounted() {
    InstructionRule bullets =
        InstructionRule.of(
            "detectable_format:number_bullet_lists", arguments("{\"num_bullets\": 2}"));
    assertThat(bullets.isFollowedBy("Two:\n* one\n- two")).isTrue();
    assertThat(bullets.isFollowedBy("* one\n**bold**")).isFalse();
    InstructionRule second =
        InstructionRule.of(
            "length_constraints:nth_paragraph_first_word",
            arguments("{\"num_paragraphs\": 2, \"nth_paragraph\": 2, \"first_word\": \"boats\"}"));
    assertThat(second.isFollowedBy("One.\n\nBoats, sail.")).isTrue();
    assertThat(second.isFollowedBy("Boats.\n\nOne.")).isFalse();
  }

  @Test
  void looseFormsDropGreetingsAndEmphasis() {
    InstructionRule lower = InstructionRule.of("change_case:english_lowercase", arguments(""));
    assertThat(lower.isFollowedBy("Sure:\nquiet")).isFalse();
    assertThat(lower.isLooselyFollowedBy("Sure:\nquiet")).isTrue();
    assertThat(lower.isLooselyFollowedBy("Sure:\nLoud\nBye")).isFalse();
    assertThat(lower.isLooselyFollowedBy("")).isFalse();
  }

  @Test
  void allPublishedInstructionsAreKnown() {
    assertThat(InstructionRule.names()).hasSize(25);
    assertThatThrownBy(() -> InstructionRule.of("colour:red", arguments("")))
        .hasMessageContaining("'colour:red' is unknown");
    InstructionRule words =
        InstructionRule.of(
            "length_constraints:number_words",
            arguments("{\"num_words\": 3, \"relation\": \"about\"}"));
    assertThatThrownBy(() -> words.isFollowedBy("x")).hasMessageContaining("'about'");
  }
}
