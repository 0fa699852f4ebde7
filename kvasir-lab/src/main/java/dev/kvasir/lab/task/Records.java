package dev.kvasir.lab.task;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Documents for look-ups in a long table of names and numbers. */
public final class Records {
  private static final int DIGITS = 4;

  private Records() {}

  /** Returns the maximum number of rows with distinct names. */
  public static int maxRows() {
    return Names.count();
  }

  /**
   * Asks for one row in each of as many equal parts of the table.
   *
   * @param questions at most the number of rows
   */
  public static Document document(RandomGenerator random, int rows, int questions) {
    List<String> names = Names.draw(random, rows);
    List<String> values = new ArrayList<>();
    StringBuilder table = new StringBuilder("Records:");
    for (String name : names) {
      String value = Names.number(random, DIGITS);
      values.add(value);
      table.append('\n').append(name).append(": ").append(value);
    }
    List<Question> selected = new ArrayList<>();
    for (int i = 0; i < questions; i++) {
      int row = (int) ((i + random.nextDouble()) / questions * rows);
      selected.add(question(names.get(row), values.get(row), (double) row / rows));
    }
    return new Document(table.toString(), selected);
  }

  private static Question question(String name, String value, double depth) {
    String question = "What is the value of %s?".formatted(name);
    return Question.about(question, value, depth);
  }
}
