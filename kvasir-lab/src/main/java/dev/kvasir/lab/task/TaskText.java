package dev.kvasir.lab.task;

import java.util.random.RandomGenerator;

/**
 * Tables and programs with questions and correct answers: text other than prose for calibration,
 * and for testing calibration on prose. It never coincides with documents of an evaluation, because
 * the random generators depend on their purpose.
 */
public final class TaskText {
  private static final String PURPOSE = "task text";
  private static final int ROWS = 60;
  private static final int QUESTIONS = 6;
  private static final int STEPS = 24;

  private TaskText() {}

  /**
   * @param rounds number of tables and programs, about 1,000 tokens of the bundled model each
   */
  public static String of(long seed, int rounds) {
    StringBuilder text = new StringBuilder();
    for (int round = 0; round < rounds; round++) {
      RandomGenerator random = Seeds.of(seed, PURPOSE, ROWS, round);
      Document table = Records.document(random, ROWS, QUESTIONS);
      text.append(table.text());
      for (Question question : table.questions()) {
        text.append(question.text()).append(' ').append(question.answer());
      }
      Chain chain = Chain.draw(random, STEPS);
      text.append("\n\n").append(chain.problem());
      text.append(String.join("\n", chain.solution())).append("\n\n");
    }
    return text.toString();
  }
}
