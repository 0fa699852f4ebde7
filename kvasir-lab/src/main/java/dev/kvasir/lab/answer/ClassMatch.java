package dev.kvasir.lab.answer;

import java.util.List;

/** The share of the right class among the classes that an answer names. */
public final class ClassMatch {
  private ClassMatch() {}

  /**
   * Returns one divided by the number of classes that the answer names, 0 if the right one is not
   * among them. A class whose name is part of the right name does not count.
   */
  public static double of(String answer, String right, List<String> classes) {
    List<String> named =
        classes.stream()
            .filter(answer::contains)
            .filter(name -> name.equals(right) || !right.contains(name))
            .toList();
    return named.contains(right) ? 1.0 / named.size() : 0;
  }
}
