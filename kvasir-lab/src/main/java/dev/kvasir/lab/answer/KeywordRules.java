package dev.kvasir.lab.answer;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;

/** Instructions about words, letters, case and punctuation. */
final class KeywordRules {
  static final Map<String, BiPredicate<String, RuleArguments>> ALL =
      Map.of(
          "keywords:existence",
          (answer, rule) -> rule.texts("keywords").stream().allMatch(word -> has(answer, word)),
          "keywords:frequency",
          (answer, rule) ->
              rule.holds(count(answer, rule.text("keyword")), "relation", "frequency"),
          "keywords:forbidden_words",
          (answer, rule) ->
              rule.texts("forbidden_words").stream().noneMatch(word -> hasWord(answer, word)),
          "keywords:letter_frequency",
          (answer, rule) ->
              rule.holds(letters(answer, rule.text("letter")), "let_relation", "let_frequency"),
          "language:response_language",
          (answer, rule) -> Script.of(rule.text("language")).dominates(answer),
          "change_case:capital_word_frequency",
          (answer, rule) ->
              rule.holds(capitalWords(answer), "capital_relation", "capital_frequency"),
          "change_case:english_capital",
          (answer, rule) -> answer.equals(answer.toUpperCase(Locale.ROOT)),
          "change_case:english_lowercase",
          (answer, rule) -> answer.equals(answer.toLowerCase(Locale.ROOT)),
          "punctuation:no_comma",
          (answer, rule) -> answer.indexOf(',') < 0);

  private KeywordRules() {}

  private static boolean has(String answer, String word) {
    return count(answer, word) > 0;
  }

  static int count(String answer, String word) {
    return (int) insensitive(Pattern.quote(word)).matcher(answer).results().count();
  }

  private static boolean hasWord(String answer, String word) {
    return insensitive("\\b" + Pattern.quote(word) + "\\b").matcher(answer).find();
  }

  private static int letters(String answer, String letter) {
    return count(answer, letter.strip());
  }

  private static int capitalWords(String answer) {
    return (int)
        Arrays.stream(answer.split("[^\\p{L}\\p{N}'-]+"))
            .filter(word -> word.chars().anyMatch(Character::isLetter))
            .filter(word -> word.equals(word.toUpperCase(Locale.ROOT)))
            .count();
  }

  private static Pattern insensitive(String pattern) {
    return Pattern.compile(pattern, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
  }
}
