package dev.kvasir.lab.synthetic;

import dev.kvasir.lab.text.BundledText;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Sentences of the bundled filler, with facts between them. */
final class Prose {
  private static final List<String> SENTENCES =
      List.of(BundledText.filler().strip().split("(?<=[.!?])\\s+"));

  private Prose() {}

  /**
   * Returns sentences with facts at the given depths.
   *
   * @param depths where each fact stands, 0 to 1, in the order of the facts
   */
  static String with(
      RandomGenerator random, int sentences, List<String> facts, List<Double> depths) {
    List<String> text = new ArrayList<>();
    int from = random.nextInt(SENTENCES.size());
    for (int i = 0; i <= sentences; i++) {
      for (int fact = 0; fact < facts.size(); fact++) {
        if ((int) (depths.get(fact) * (sentences + 1)) == i) {
          text.add(facts.get(fact));
        }
      }
      if (i < sentences) {
        text.add(SENTENCES.get((from + i) % SENTENCES.size()));
      }
    }
    return String.join(" ", text);
  }

  /** Returns ascending depths, so that facts keep their order. */
  static List<Double> ordered(RandomGenerator random, int count) {
    return random.doubles(count).sorted().boxed().toList();
  }
}
