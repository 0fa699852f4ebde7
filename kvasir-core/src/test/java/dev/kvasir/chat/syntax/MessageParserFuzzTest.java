package dev.kvasir.chat.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.kvasir.ToolFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random texts of markers, calls and noise: no failure, valid arguments, nothing lost. */
class MessageParserFuzzTest {
  private static final int TEXTS = 700;
  private static final List<String> NOISE =
      List.of(
          "{\"name\": \"f\", \"arguments\": {\"city\": \"x\"}}",
          "{\"name\": \"f\"",
          "\"arguments\": {",
          "\"parameters\": ",
          "f(city=\"x\")",
          "[f(",
          "{",
          "}",
          "[",
          "]",
          "\"",
          "'",
          "\\",
          ",",
          ":",
          "```json\n",
          "```",
          "\n",
          " ",
          "1",
          "-0.5e",
          "true",
          "f",
          "get_time",
          "<function=f>",
          "<parameter=city>",
          "</parameter>",
          "</function>",
          "<arg_key>city</arg_key>",
          "<arg_value>1</arg_value>",
          "<invoke name=\"f\">",
          "</invoke>",
          "<parameter name=\"city\">",
          "<｜DSML｜invoke name=\"f\">",
          "<｜DSML｜parameter name=\"note\" string=\"false\">",
          "</｜DSML｜parameter>",
          "</｜DSML｜invoke>",
          "functions.f:0",
          "call:f{",
          "city:<|\"|>x<|\"|>",
          "to=functions.f",
          "final",
          "analysis",
          "é",
          "\uD83D\uDE00",
          "<",
          "|",
          "<|");

  private static String text(Random random, List<String> markers) {
    StringBuilder text = new StringBuilder();
    int parts = 1 + random.nextInt(12);
    for (int i = 0; i < parts; i++) {
      List<String> from = random.nextInt(3) == 0 ? markers : NOISE;
      text.append(from.get(random.nextInt(from.size())));
    }
    return text.toString();
  }

  private static List<String> split(String text, Random random) {
    List<String> pieces = new ArrayList<>();
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + 1 + random.nextInt(7));
      pieces.add(text.substring(at, end));
      at = end;
    }
    return pieces;
  }

  @ParameterizedTest
  @EnumSource
  void everyTextIsReadTheSameHoweverItIsSplit(ToolFormat format) {
    Random random = new Random(20_26 + format.ordinal());
    MessageSyntax syntax = ParsedMessage.syntax(format, "");
    for (int i = 0; i < TEXTS; i++) {
      String text = text(random, syntax.markers());
      boolean isOpen = random.nextInt(4) == 0;
      List<String> whole = parse(syntax, isOpen, List.of(text));
      assertThat(parse(syntax, isOpen, split(text, random))).as(text).isEqualTo(whole);
      whole.stream().filter(line -> line.startsWith("call:")).forEach(this::requireObject);
      assertThat(whole).as(text).noneMatch(line -> line.startsWith("inconsistent:"));
    }
  }

  private static List<String> parse(MessageSyntax syntax, boolean isOpen, List<String> pieces) {
    return ParsedMessage.parse(syntax, ParsedMessage.FUNCTIONS, isOpen, pieces).lines();
  }

  private void requireObject(String call) {
    JsonElement arguments = JsonParser.parseString(call.substring(call.indexOf(' ') + 1));
    assertThat(arguments.isJsonObject()).as(call).isTrue();
  }
}
