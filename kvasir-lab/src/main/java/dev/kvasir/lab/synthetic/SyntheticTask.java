package dev.kvasir.lab.synthetic;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/** The generated tasks. Each draws a text of a number of entries: sentences, lines or pairs. */
public enum SyntheticTask {
  /** InfiniteBench: a pass key of five digits in repeated sentences. */
  PASSKEY(HiddenDigits::passKey, 12),
  /** InfiniteBench: ten digits with repetitions in repeated sentences. */
  NUMBER_STRING(HiddenDigits::numberString, 16),
  /** InfiniteBench: the value of one key in a JSON object of random identifiers. */
  KEY_VALUE(KeyValuePairs::draw, 48),
  /** LongEval: the number in one of many named lines. */
  LINES(NamedLines::draw, 12),
  /** RULER: one of many keys hidden in prose. */
  MULTI_KEY(ManyNeedles::manyKeys, 16),
  /** RULER: all values of one key hidden in prose. */
  MULTI_VALUE(ManyNeedles::manyValues, 48),
  /** RULER: all variables that hold a value, through a chain of assignments in prose. */
  VARIABLES(VariableChain::draw, 48),
  /** RULER: the words that occur most often in a list. */
  COMMON_WORDS(CommonWords::draw, 64);

  private final BiFunction<RandomGenerator, Integer, SyntheticSample> draw;
  private final int answerTokens;

  SyntheticTask(BiFunction<RandomGenerator, Integer, SyntheticSample> draw, int answerTokens) {
    this.draw = draw;
    this.answerTokens = answerTokens;
  }

  /**
   * @param entries number of sentences, lines or pairs, at least 1
   */
  SyntheticSample draw(RandomGenerator random, int entries) {
    return draw.apply(random, entries);
  }

  /** Returns the tokens that an answer may take. */
  public int answerTokens() {
    return answerTokens;
  }

  /** Returns the name on the command line, such as {@code multi-key}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the task of a name. */
  public static SyntheticTask named(String name) {
    return Arrays.stream(values())
        .filter(task -> task.label().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the task '%s' is unknown; known are %s"
                        .formatted(name, String.join(", ", labels()))));
  }

  private static List<String> labels() {
    return Arrays.stream(values()).map(SyntheticTask::label).collect(Collectors.toList());
  }
}
