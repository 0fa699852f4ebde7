package dev.kvasir.lab.task;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Look-ups in a long table of names and numbers. */
public final class Records {
  private static final int DIGITS = 4;

  private Records() {}

  /** Tables cannot be longer, for then a name would come twice. */
  public static int maxRows() {
    return Names.count();
  }

  /**
   * Asks for rows in as many equal parts of the table, one of each.
   *
   * @param questions at most as many as rows
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
    List<Question> asked = new ArrayList<>();
    for (int i = 0; i < questions; i++) {
      int row = (int) ((i + random.nextDouble()) / questions * rows);
      asked.add(question(names.get(row), values.get(row), (double) row / rows));
    }
    return new Document(table.toString(), asked);
  }

  private static Question question(String name, String value, double depth) {
    String question = "What is the value of %s?".formatted(name);
    return Question.about(question, value, depth);
  }
}
