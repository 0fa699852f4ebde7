package dev.kvasir.lab.task;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Any number of distinct random names, such as amber-anchor, and amber-anchor-7 beyond those. */
public final class RandomNames {
  private RandomNames() {}

  public static List<String> distinct(RandomGenerator random, int count) {
    int plain = Math.min(count, Names.count() / 2); // drawing the last ones would take long
    Set<String> names = new LinkedHashSet<>(Names.draw(random, plain));
    List<String> bases = new ArrayList<>(names);
    for (int round = 2; names.size() < count; round++) {
      for (int i = 0; i < bases.size() && names.size() < count; i++) {
        names.add(bases.get(i) + "-" + round);
      }
    }
    return new ArrayList<>(names);
  }
}
