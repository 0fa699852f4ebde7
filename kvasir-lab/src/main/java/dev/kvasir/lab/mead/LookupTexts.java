package dev.kvasir.lab.mead;

import dev.kvasir.lab.task.Seeds;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Texts for what prose lacks: lists of numbers that are read again in another order, where each
 * number is an answer, and then tokens of the prose in random order. Lists show which errors spoil
 * the lookup of a token far back; tokens in random order have unusual keys and values, so that
 * channels that vary little in prose get bits too.
 */
final class LookupTexts {
  private static final String PURPOSE = "mead-lookups";

  /** Fraction of a text with lists; random tokens take the rest. */
  private static final double LISTS = 0.75;

  private static final int MIN_ENTRIES = 16;
  private static final int MAX_ENTRIES = 40;
  private static final int MIN_DIGITS = 2;
  private static final int MAX_DIGITS = 5;

  private static final List<String> BETWEEN = List.of(":", " =", " ->", " is", " has");
  private static final List<String> AFTER = List.of("\n", ", ", "; ", ".\n");
  private static final Pattern WORD = Pattern.compile("\\p{L}{4,8}");

  /** For prose without words. */
  private static final List<String> LETTERS = List.of("abcdefghijklmnopqrstuvwxyz".split(""));

  private final Tokenizer tokenizer;
  private final int[] prose;
  private final List<String> words;
  private final int length;
  private final long seed;

  /**
   * @param prose provides names and random tokens
   * @param length tokens of a text
   */
  LookupTexts(Tokenizer tokenizer, List<int[]> prose, int length, long seed) {
    this.tokenizer = tokenizer;
    this.prose = prose.stream().flatMapToInt(Arrays::stream).toArray();
    this.words = words(tokenizer.decode(this.prose, true));
    this.length = length;
    this.seed = seed;
  }

  private static List<String> words(String text) {
    List<String> found =
        WORD.matcher(text).results().map(MatchResult::group).distinct().sorted().toList();
    return found.size() < MIN_ENTRIES ? LETTERS : found;
  }

  MarkedText text(int index) {
    RandomGenerator random = Seeds.of(seed, PURPOSE, length, index);
    MarkedTextWriter writer = new MarkedTextWriter(tokenizer, length);
    while (writer.length() < LISTS * length) {
      new NumberList(random).writeTo(writer, random);
    }
    MarkedText lists = writer.text();
    int[] tokens = Arrays.copyOf(lists.tokens(), length);
    boolean[] answers = Arrays.copyOf(lists.answers(), length);
    for (int i = (int) (LISTS * length); i < length; i++) {
      tokens[i] = prose[random.nextInt(prose.length)];
      answers[i] = false;
    }
    return new MarkedText(tokens, answers);
  }

  /** A list of names, each with a number. */
  private final class NumberList {
    private final List<String> names;
    private final List<String> numbers = new ArrayList<>();
    private final String between;
    private final String after;

    NumberList(RandomGenerator random) {
      int count = Math.min(random.nextInt(MIN_ENTRIES, MAX_ENTRIES), words.size());
      int digits = random.nextInt(MIN_DIGITS, MAX_DIGITS + 1);
      this.names = names(random, count);
      this.between = any(BETWEEN, random);
      this.after = any(AFTER, random);
      for (int i = 0; i < count; i++) {
        numbers.add(number(random, digits));
      }
    }

    /** Returns distinct words, or pairs of words whose first ones are distinct. */
    private List<String> names(RandomGenerator random, int count) {
      List<String> shuffled = new ArrayList<>(words);
      Collections.shuffle(shuffled, random);
      boolean isPair = random.nextBoolean();
      return shuffled.stream()
          .limit(count)
          .map(word -> isPair ? word + "-" + any(words, random) : word)
          .toList();
    }

    private static String any(List<String> some, RandomGenerator random) {
      return some.get(random.nextInt(some.size()));
    }

    private static String number(RandomGenerator random, int digits) {
      StringBuilder number = new StringBuilder();
      for (int i = 0; i < digits; i++) {
        number.append(random.nextInt(10));
      }
      return number.toString();
    }

    /** Writes the list twice, the second time in another order and with answers. */
    void writeTo(MarkedTextWriter writer, RandomGenerator random) {
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < names.size(); i++) {
        writer.add(names.get(i) + between + " " + numbers.get(i) + after, false);
        order.add(i);
      }
      writer.add("\n", false);
      Collections.shuffle(order, random);
      for (int i : order) {
        writer.add(names.get(i) + between, false);
        writer.add(" " + numbers.get(i), true);
        writer.add(after, false);
      }
      writer.add("\n", false);
    }
  }
}
