package dev.kvasir.lab.task;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A register program and its execution, step by step and modulo 100. Every step needs an earlier
 * result, so a single memory error spoils everything after it.
 *
 * @param problem the problem, up to where the solution starts
 * @param instruction the problem as an instruction for a chat model
 * @param solution the lines of the correct solution; the last one is the answer
 */
public record Chain(String problem, String instruction, List<String> solution)
    implements Serializable {
  private static final String REGISTERS = "abcd";
  private static final int MODULUS = 100;

  public static Chain draw(RandomGenerator random, int steps) {
    int[] values = random.ints(REGISTERS.length(), 0, MODULUS).toArray();
    StringBuilder problem = new StringBuilder("Problem: Start with ");
    for (int i = 0; i < values.length; i++) {
      problem.append(i == 0 ? "" : " ").append("%s=%02d".formatted(register(i), values[i]));
    }
    problem.append(". Apply these steps modulo 100.\n");
    List<String> solution = new ArrayList<>();
    int target = 0;
    for (int step = 1; step <= steps; step++) {
      target = random.nextInt(values.length);
      int source = random.nextInt(values.length);
      char operator = random.nextBoolean() ? '+' : '-';
      problem.append(
          "%d: %s=%s%s%s\n"
              .formatted(step, register(target), register(target), operator, register(source)));
      solution.add(execute(step, values, target, operator, source));
    }
    problem.append("What is %s?\n".formatted(register(target)));
    solution.add("Answer: %02d".formatted(values[target]));
    return new Chain(problem + "Solution:\n", instruction(problem.toString()), solution);
  }

  private static String execute(int step, int[] values, int target, char operator, int source) {
    int left = values[target];
    int right = values[source];
    values[target] = Math.floorMod(operator == '+' ? left + right : left - right, MODULUS);
    return "%d: %s=%02d%s%02d=%02d"
        .formatted(step, register(target), left, operator, right, values[target]);
  }

  private static String instruction(String problem) {
    return problem
        + "Write each step on a line such as 1: a=12+34=46, and end with a line such as Answer: 46";
  }

  private static char register(int index) {
    return REGISTERS.charAt(index);
  }

  public int steps() {
    return solution.size() - 1;
  }

  /** Returns the digits of the correct answer. */
  public String answer() {
    return solution.getLast().substring("Answer: ".length());
  }

  /** Returns the number of steps of an attempt before the first wrong one. */
  public int rightSteps(String attempt) {
    List<String> lines = attempt.strip().lines().map(String::strip).toList();
    int right = 0;
    while (right < steps()
        && right < lines.size()
        && lines.get(right).equals(solution.get(right))) {
      right++;
    }
    return right;
  }

  /**
   * Returns whether further text cannot change the score: a complete line is wrong, or all lines
   * are present.
   */
  public boolean isDecidedBy(String attempt) {
    int end = attempt.lastIndexOf('\n');
    String whole = end < 0 ? "" : attempt.substring(0, end);
    long lines = whole.strip().lines().count();
    return lines > rightSteps(whole);
  }

  /** Returns whether all lines of an attempt are correct, including the answer. */
  public boolean isSolvedBy(String attempt) {
    return attempt.strip().lines().map(String::strip).toList().equals(solution);
  }
}
