package dev.kvasir.lab.answer;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;

/** Instructions about the number of words, sentences and paragraphs. */
final class LengthRules {
  private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}_]+");

  /** A period within a number or an abbreviation such as e.g. ends no sentence. */
  private static final Pattern SENTENCE_END = Pattern.compile("[.!?]+[\"')\\]]*(?=\\s|$)");

  static final Map<String, BiPredicate<String, RuleArguments>> ALL =
      Map.of(
          "length_constraints:number_sentences",
          (answer, rule) -> rule.holds(sentences(answer), "relation", "num_sentences"),
          "length_constraints:number_words",
          (answer, rule) -> rule.holds(words(answer), "relation", "num_words"),
          "length_constraints:number_paragraphs",
          (answer, rule) ->
              split(answer, "\\s?\\*\\*\\*\\s?").size() == rule.count("num_paragraphs"),
          "length_constraints:nth_paragraph_first_word",
          LengthRules::startsParagraph);

  private LengthRules() {}

  private static int words(String answer) {
    return (int) WORD.matcher(answer).results().count();
  }

  static int sentences(String answer) {
    String text = answer.strip();
    int ends = (int) SENTENCE_END.matcher(text).results().count();
    boolean open = !text.isEmpty() && !text.matches("(?s).*[.!?]+[\"')\\]]*$");
    return ends + (open ? 1 : 0);
  }

  private static List<String> split(String answer, String separator) {
    return Arrays.stream(answer.split(separator)).filter(part -> !part.isBlank()).toList();
  }

  private static boolean startsParagraph(String answer, RuleArguments rule) {
    List<String> paragraphs = split(answer, "\n\n");
    int wanted = rule.count("nth_paragraph");
    if (paragraphs.size() != rule.count("num_paragraphs") || wanted > paragraphs.size()) {
      return false;
    }
    String first = paragraphs.get(wanted - 1).strip().split("\\s+")[0];
    String word = first.replaceAll("^[\"']+", "").replaceAll("[^\\p{L}\\p{N}'-].*$", "");
    return word.toLowerCase(Locale.ROOT).equals(rule.text("first_word").toLowerCase(Locale.ROOT));
  }
}
