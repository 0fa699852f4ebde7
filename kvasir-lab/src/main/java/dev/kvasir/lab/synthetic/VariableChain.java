package dev.kvasir.lab.synthetic;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Assignments in prose that pass a value from one variable to the next. */
final class VariableChain {
  private static final int LENGTH = 5;
  private static final int LETTERS = 5;
  private static final int DIGITS = 5;

  private VariableChain() {}

  static SyntheticSample draw(RandomGenerator random, int entries) {
    List<String> names = names(random);
    String value = HiddenDigits.digits(random, DIGITS);
    List<String> facts = new ArrayList<>();
    for (int i = 0; i < LENGTH; i++) {
      String source = i == 0 ? value : "VAR " + names.get(i - 1);
      facts.add("VAR %s = %s.".formatted(names.get(i), source));
    }
    List<Double> depths = Prose.ordered(random, LENGTH);
    return new SyntheticSample(
        Prose.with(random, entries, facts, depths),
        "Which variables hold the value %s? The %d variables are".formatted(value, LENGTH),
        names);
  }

  private static List<String> names(RandomGenerator random) {
    Set<String> names = new LinkedHashSet<>();
    while (names.size() < LENGTH) {
      StringBuilder name = new StringBuilder();
      for (int i = 0; i < LETTERS; i++) {
        name.append((char) ('A' + random.nextInt(26)));
      }
      names.add(name.toString());
    }
    return List.copyOf(names);
  }
}
