package dev.kvasir.lab.task;

import java.util.random.RandomGenerator;

/**
 * Tables and programs with their questions and right answers, written out one after another: text
 * that is not prose, for calibration, and to try what calibration on prose is worth elsewhere. No
 * document of an evaluation is among them, whatever the seeds: generators are told apart by the
 * name of what they are for.
 */
public final class TaskText {
  private static final String PURPOSE = "task text";
  private static final int ROWS = 60;
  private static final int QUESTIONS = 6;
  private static final int STEPS = 24;

  private TaskText() {}

  /**
   * @param rounds of a table and a program each, some 1,000 tokens of the bundled model
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
