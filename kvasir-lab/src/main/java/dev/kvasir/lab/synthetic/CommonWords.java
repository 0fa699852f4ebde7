package dev.kvasir.lab.synthetic;

import dev.kvasir.lab.task.RandomNames;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** A list in which ten words occur ten times as often as the others. */
final class CommonWords {
  private static final int COMMON = 10;
  private static final int RARE_TIMES = 1;
  private static final int COMMON_TIMES = 10;

  private CommonWords() {}

  static SyntheticSample draw(RandomGenerator random, int entries) {
    List<String> words = RandomNames.distinct(random, COMMON + entries);
    List<String> common = words.subList(0, COMMON);
    List<String> all = new ArrayList<>();
    for (int i = 0; i < words.size(); i++) {
      int times = i < COMMON ? COMMON_TIMES : RARE_TIMES;
      all.addAll(Collections.nCopies(times, words.get(i)));
    }
    Collections.shuffle(all, Random.from(random));
    StringBuilder text = new StringBuilder("A numbered list of words follows.");
    for (int i = 0; i < all.size(); i++) {
      text.append("\n%d. %s".formatted(i + 1, all.get(i)));
    }
    return new SyntheticSample(
        text.toString(),
        "Which %d words occur most often in the list? The words are".formatted(COMMON),
        common);
  }
}
