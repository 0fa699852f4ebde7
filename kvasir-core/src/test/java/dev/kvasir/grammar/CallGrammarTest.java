package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.ToolFormat;
import dev.kvasir.chat.syntax.CallGrammar;
import dev.kvasir.chat.syntax.CallableFunctions;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.chat.syntax.WrittenCalls;
import dev.kvasir.text.SyntheticTokenizer;
import dev.kvasir.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random texts of the grammar of each format are calls that its parser reads. */
class CallGrammarTest {
  private static final String SCHEMA =
      """
      {"type": "object", "properties": {
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "on": {"type": "boolean"},
        "place": {"$ref": "#/$defs/place"}},
       "required": ["days", "place"],
       "$defs": {"place": {"type": "array", "items": {"type": "integer"}, "maxItems": 2}}}
      """;
  private static final CallableFunctions FUNCTIONS =
      new CallableFunctions(Map.of("weather", SCHEMA), true);
  private static final Tokenizer TOKENIZER =
      SyntheticTokenizer.of(
          Stream.of("weather", "\": ", "<tool", "_call>", "{\"", "\"}")
              .map(text -> text.getBytes(StandardCharsets.UTF_8))
              .toList());

  private static MessageSyntax syntax(ToolFormat format) {
    return MessageSyntax.recognize(Optional.empty(), Optional.of(format));
  }

  private static String generated(Grammar grammar, long seed) {
    return TOKENIZER.decode(new RandomGeneration(grammar, TOKENIZER, seed).ids());
  }

  @ParameterizedTest
  @EnumSource
  void everyTextIsOneValidCall(ToolFormat format) {
    MessageSyntax syntax = syntax(format);
    Grammar grammar = new CallGrammar(syntax, text -> false).call(FUNCTIONS);
    SchemaCheck check = new SchemaCheck(JsonParser.parseString(SCHEMA).getAsJsonObject());
    for (int seed = 0; seed < 10; seed++) {
      String text = generated(grammar, seed);
      List<String> calls = WrittenCalls.in(text, syntax, FUNCTIONS);
      assertThat(calls).as(text).hasSize(1);
      JsonObject arguments = JsonParser.parseString(calls.getFirst()).getAsJsonObject();
      assertThat(check.isValid(arguments)).as(text).isTrue();
    }
  }

  @Test
  void reasoningThatThePromptOpenedComesFirst() {
    MessageSyntax syntax = syntax(ToolFormat.HERMES);
    CallGrammar calls = new CallGrammar(syntax, text -> false);
    AcceptedTexts texts = AcceptedTexts.of(calls.afterReasoning(Grammar.literal("yes")));
    assertThat(texts.contains("</think>yes")).isTrue();
    assertThat(texts.contains("a < b, <i>x</i>.\n</think>\n\nyes")).isTrue();
    assertThat(texts.contains("no end yes")).isFalse();
    assertThat(texts.contains("a</think>b</think>yes")).isFalse();
  }

  @Test
  void specialTokensAreGeneratedAsSuch() {
    Grammar grammar = Grammar.sequence(Grammar.special("a"), Grammar.literal("b"));
    int[] ids = new RandomGeneration(grammar, TOKENIZER, 1).ids();
    assertThat(ids)
        .containsExactly(SyntheticTokenizer.SPECIAL, SyntheticTokenizer.FIRST_BYTE + 'b');
  }

  @Test
  void textEndsAtItsDelimiter() {
    AcceptedTexts texts =
        AcceptedTexts.of(Grammar.sequence(Grammar.textWithout("</p>"), Grammar.literal("</p>")));
    assertThat(texts.contains("</p>")).isTrue();
    assertThat(texts.contains("é <b>1 < 2</b> </ p></p>")).isTrue();
    assertThat(texts.contains("a</p></p>")).isFalse();
    assertThat(texts.contains("a")).isFalse();
  }
}
