package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Workload.Program;
import dev.kvasir.lab.task.AnswerNumbers;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * Register programs whose full solutions the model generates in one batch, reading earlier steps
 * from its own cache.
 *
 * @param part which of the programs these are, for the task name
 */
record ChainTask(CandidateCache row, List<Program> programs, String part, Prefill prefill)
    implements LabTask<ChainTask.Attempts> {

  /**
   * The outcome of each program.
   *
   * @param solved 1 for a program that is correct to the last line
   * @param rightSteps number of steps before the first wrong one
   */
  record Attempts(List<Double> solved, List<Double> rightSteps) implements Serializable {}

  @Override
  public String name() {
    return "chain with %s%s".formatted(row.name(), part);
  }

  @Override
  public double cost() {
    return programs.stream().mapToDouble(Program::cost).sum();
  }

  @Override
  public long peakBytes(LoadedModel model) {
    return programs.stream().mapToLong(one -> row.peakBytes(model, one.maxLength(), prefill)).sum();
  }

  @Override
  public Attempts run(WorkerContext context, ProgressListener listener) {
    BatchRunner runner =
        new BatchRunner(context.model(), prefill, new ProgressCounter(listener, cost()));
    List<String> written = runner.generateAnswers(row, programs, ChainTask::isComplete);
    Attempts attempts = new Attempts(new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < programs.size(); i++) {
      Program program = programs.get(i);
      String attempt = written.get(i);
      attempts.solved.add(isSolved(program, attempt) ? 1.0 : 0.0);
      attempts.rightSteps.add((double) program.chain().rightSteps(attempt));
    }
    return attempts;
  }

  /** Returns the score over all programs of a row. */
  static Score score(List<Attempts> parts, int steps) {
    List<Double> solved = parts.stream().flatMap(part -> part.solved.stream()).toList();
    List<Double> rightSteps = parts.stream().flatMap(part -> part.rightSteps.stream()).toList();
    return new Score.Chain(
        Proportion.of(solved).estimate(), solved, Means.estimate(rightSteps), steps, rightSteps);
  }

  /**
   * Generation stops at the first wrong line, because the rest cannot change the score. A chat
   * model was not trained on the task's wording and may reach the answer in its own way.
   */
  private static boolean isComplete(Program program, String text) {
    if (!program.chat()) {
      return program.chain().isDecidedBy(text);
    }
    int answer = text.lastIndexOf("Answer: ");
    return answer >= 0 && text.indexOf('\n', answer) > 0;
  }

  private static boolean isSolved(Program program, String attempt) {
    if (program.chat()) {
      BigDecimal answer = new BigDecimal(program.chain().answer());
      return AnswerNumbers.last(attempt)
          .filter(number -> number.compareTo(answer) == 0)
          .isPresent();
    }
    return program.chain().isSolvedBy(attempt);
  }
}
