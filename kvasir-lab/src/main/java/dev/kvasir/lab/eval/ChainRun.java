package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.Workload.Program;
import dev.kvasir.lab.task.Numbers;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Lets the model write whole solutions, which it reads back from its own cache. */
final class ChainRun {
  private final Steps steps;
  private final List<Program> programs;
  private final List<Double> solved = new ArrayList<>();
  private final List<Double> rightSteps = new ArrayList<>();

  ChainRun(Steps steps, List<Program> programs) {
    this.steps = steps;
    this.programs = programs;
  }

  Score run(RowInProgress row) {
    for (int from = 0; from < programs.size(); from += Steps.SIDE_BY_SIDE) {
      int to = Math.min(from + Steps.SIDE_BY_SIDE, programs.size());
      solve(row, programs.subList(from, to));
    }
    return new Score.Chain(
        Share.of(solved).estimate(),
        List.copyOf(solved),
        Means.estimate(rightSteps),
        programs.getFirst().chain().steps(),
        List.copyOf(rightSteps));
  }

  private void solve(RowInProgress row, List<Program> together) {
    List<Draft> drafts = new ArrayList<>();
    try {
      for (Program program : together) {
        drafts.add(
            new Draft(
                row.contender().open(program.tokens()),
                program.prompt(),
                program.mostTokens(),
                text -> isEnough(program, text)));
      }
      steps.write(drafts);
      for (int i = 0; i < together.size(); i++) {
        Program program = together.get(i);
        String attempt = drafts.get(i).text();
        solved.add(isSolved(program, attempt) ? 1.0 : 0.0);
        rightSteps.add((double) program.chain().rightSteps(attempt));
      }
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /**
   * Once a line is wrong, the rest of a solution is not waited for: it could not count any more. A
   * model that was not trained on the task's words may go about it in its own way to the answer.
   */
  private static boolean isEnough(Program program, String text) {
    if (!program.chat()) {
      return program.chain().isDecidedBy(text);
    }
    int answer = text.lastIndexOf("Answer: ");
    return answer >= 0 && text.indexOf('\n', answer) > 0;
  }

  private static boolean isSolved(Program program, String attempt) {
    if (program.chat()) {
      BigDecimal answer = new BigDecimal(program.chain().answer());
      return Numbers.last(attempt).filter(number -> number.compareTo(answer) == 0).isPresent();
    }
    return program.chain().isSolvedBy(attempt);
  }
}
