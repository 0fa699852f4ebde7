package dev.kvasir.lab.synthetic;

import java.util.List;
import java.util.random.RandomGenerator;

/** Digits that are stated once in a text of repeated sentences. */
final class HiddenDigits {
  private static final String NOISE =
      "The road is long. The river is wide. The hills are far. On we go, and on again.";
  private static final int KEY_DIGITS = 5;
  private static final int RUNS = 4;
  private static final int STRING_DIGITS = 10;

  private HiddenDigits() {}

  static SyntheticSample passKey(RandomGenerator random, int entries) {
    String key = digits(random, KEY_DIGITS);
    String fact = "The pass key is %s. Keep it in mind: %s is the pass key.".formatted(key, key);
    return hidden(random, entries, "pass key", fact, "What is the pass key? The pass key is", key);
  }

  /** Runs of equal digits make the string hard to copy. */
  static SyntheticSample numberString(RandomGenerator random, int entries) {
    StringBuilder digits = new StringBuilder();
    while (digits.length() < STRING_DIGITS) {
      String digit = String.valueOf(random.nextInt(10));
      digits.append(digit.repeat(1 + random.nextInt(RUNS)));
    }
    String number = digits.substring(0, STRING_DIGITS);
    String fact =
        "The number string is %s. Keep it in mind: %s is the number string."
            .formatted(number, number);
    return hidden(
        random,
        entries,
        "number string",
        fact,
        "What is the number string? The number string is",
        number);
  }

  private static SyntheticSample hidden(
      RandomGenerator random,
      int entries,
      String what,
      String fact,
      String question,
      String answer) {
    int at = (int) (random.nextDouble() * entries);
    StringBuilder text =
        new StringBuilder("A %s is hidden in the text below. Find it.".formatted(what));
    for (int i = 0; i < entries; i++) {
      if (i == at) {
        text.append('\n').append(fact);
      }
      text.append('\n').append(NOISE);
    }
    return new SyntheticSample(text.toString(), question, List.of(answer));
  }

  static String digits(RandomGenerator random, int count) {
    StringBuilder digits = new StringBuilder().append(1 + random.nextInt(9));
    while (digits.length() < count) {
      digits.append(random.nextInt(10));
    }
    return digits.toString();
  }
}
