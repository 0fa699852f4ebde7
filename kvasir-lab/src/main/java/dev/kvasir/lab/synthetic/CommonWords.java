package dev.kvasir.lab.synthetic;

import dev.kvasir.lab.task.RandomNames;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** A list in which ten words occur several times and the others once. */
final class CommonWords {
  private static final int COMMON = 10;

  /** Times of a common word; they grow with the list, as its share would vanish otherwise. */
  private static final int LEAST_TIMES = 3;

  private static final int MOST_TIMES = 30;
  private static final int ENTRIES_PER_TIME = 20;

  private CommonWords() {}

  static SyntheticSample draw(RandomGenerator random, int entries) {
    List<String> words = RandomNames.distinct(random, COMMON + entries);
    List<String> common = words.subList(0, COMMON);
    List<String> all = new ArrayList<>();
    int times = Math.min(MOST_TIMES, LEAST_TIMES + entries / ENTRIES_PER_TIME);
    for (int i = 0; i < words.size(); i++) {
      all.addAll(Collections.nCopies(i < COMMON ? times : 1, words.get(i)));
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
