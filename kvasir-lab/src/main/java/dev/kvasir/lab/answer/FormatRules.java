package dev.kvasir.lab.answer;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;

/** Instructions about layout, beginnings and endings. */
final class FormatRules {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\[[^\\[\\]]*?]");
  private static final Pattern BULLET = Pattern.compile("(?m)^\\s*(\\*[^*\\n].*|-.*)$");
  private static final Pattern HIGHLIGHT =
      Pattern.compile("\\*\\*[^\\n*]+\\*\\*|(?<!\\*)\\*[^\\n*]+\\*(?!\\*)");
  private static final Pattern TITLE = Pattern.compile("<<[^\\n]*[^\\s<>][^\\n]*>>");
  private static final List<String> DECISIONS =
      List.of("My answer is yes.", "My answer is no.", "My answer is maybe.");

  static final Map<String, BiPredicate<String, RuleArguments>> ALL =
      Map.ofEntries(
          Map.entry(
              "detectable_content:number_placeholders",
              (answer, rule) -> found(PLACEHOLDER, answer) >= rule.count("num_placeholders")),
          Map.entry("detectable_content:postscript", FormatRules::hasPostscript),
          Map.entry(
              "detectable_format:number_bullet_lists",
              (answer, rule) -> found(BULLET, answer) == rule.count("num_bullets")),
          Map.entry(
              "detectable_format:constrained_response",
              (answer, rule) -> DECISIONS.stream().anyMatch(answer::contains)),
          Map.entry(
              "detectable_format:number_highlighted_sections",
              (answer, rule) -> found(HIGHLIGHT, answer) >= rule.count("num_highlights")),
          Map.entry("detectable_format:multiple_sections", FormatRules::hasSections),
          Map.entry("detectable_format:json_format", (answer, rule) -> isJson(answer)),
          Map.entry("detectable_format:title", (answer, rule) -> TITLE.matcher(answer).find()),
          Map.entry("combination:two_responses", (answer, rule) -> isPair(answer)),
          Map.entry(
              "combination:repeat_prompt",
              (answer, rule) -> lower(answer).startsWith(lower(rule.text("prompt_to_repeat")))),
          Map.entry(
              "startend:end_checker",
              (answer, rule) ->
                  lower(answer)
                      .replaceAll("^\"+|\"+$", "")
                      .endsWith(lower(rule.text("end_phrase")))),
          Map.entry("startend:quotation", (answer, rule) -> isQuoted(answer.strip())));

  private FormatRules() {}

  private static int found(Pattern pattern, String answer) {
    return (int) pattern.matcher(answer).results().count();
  }

  private static String lower(String text) {
    return text.strip().toLowerCase(Locale.ROOT);
  }

  private static boolean hasPostscript(String answer, RuleArguments rule) {
    String marker = lower(rule.text("postscript_marker"));
    String spaced = Pattern.quote(marker).replace(".", "\\E\\.\\s?\\Q");
    return Pattern.compile("(?m)\\s*" + spaced + ".*$").matcher(lower(answer)).find();
  }

  private static boolean hasSections(String answer, RuleArguments rule) {
    String heading = "\\s?" + Pattern.quote(rule.text("section_spliter")) + "\\s?\\d+\\s?";
    return found(Pattern.compile(heading), answer) >= rule.count("num_sections");
  }

  private static boolean isJson(String answer) {
    String content = answer.strip().replaceFirst("^```(?i:json)?", "").replaceFirst("```$", "");
    try (JsonReader reader = new JsonReader(new StringReader(content.strip()))) {
      reader.setStrictness(Strictness.STRICT);
      JsonElement parsed = new Gson().fromJson(reader, JsonElement.class);
      return parsed != null && reader.peek() == JsonToken.END_DOCUMENT;
    } catch (JsonParseException | IOException e) {
      return false;
    }
  }

  /** Six asterisks separate the two answers, which must differ. */
  private static boolean isPair(String answer) {
    List<String> parts =
        Arrays.stream(answer.split("\\*{6}")).map(String::strip).filter(p -> !p.isEmpty()).toList();
    return parts.size() == 2 && !parts.getFirst().equals(parts.getLast());
  }

  private static boolean isQuoted(String answer) {
    return answer.length() > 1 && answer.startsWith("\"") && answer.endsWith("\"");
  }
}
