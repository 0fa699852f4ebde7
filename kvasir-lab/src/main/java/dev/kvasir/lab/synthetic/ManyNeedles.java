package dev.kvasir.lab.synthetic;

import dev.kvasir.lab.task.RandomNames;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Several facts in prose: many keys with one value each, or one key with many values. */
final class ManyNeedles {
  private static final int KEYS = 4;
  private static final int VALUES = 4;
  private static final int DIGITS = 7;

  private ManyNeedles() {}

  static SyntheticSample manyKeys(RandomGenerator random, int entries) {
    List<String> names = RandomNames.distinct(random, KEYS);
    List<String> numbers = numbers(random, KEYS);
    List<String> facts = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      facts.add(fact(names.get(i), numbers.get(i)));
    }
    int asked = random.nextInt(KEYS);
    List<Double> depths = Prose.ordered(random, KEYS);
    return new SyntheticSample(
        Prose.with(random, entries, facts, depths),
        "What is the magic number of %s? The magic number is".formatted(names.get(asked)),
        List.of(numbers.get(asked)));
  }

  static SyntheticSample manyValues(RandomGenerator random, int entries) {
    String name = RandomNames.distinct(random, 1).getFirst();
    List<String> numbers = numbers(random, VALUES);
    List<String> facts = numbers.stream().map(number -> fact(name, number)).toList();
    List<Double> depths = Prose.ordered(random, VALUES);
    return new SyntheticSample(
        Prose.with(random, entries, facts, depths),
        "What are all magic numbers of %s? The magic numbers are".formatted(name),
        numbers);
  }

  private static String fact(String name, String number) {
    return "One of the magic numbers of %s is %s.".formatted(name, number);
  }

  private static List<String> numbers(RandomGenerator random, int count) {
    List<String> numbers = new ArrayList<>();
    while (numbers.size() < count) {
      String number = HiddenDigits.digits(random, DIGITS);
      if (!numbers.contains(number)) {
        numbers.add(number);
      }
    }
    return numbers;
  }
}
