package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Workload.Exercise;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import java.util.List;

/**
 * The user's own questions, answered in one batch. The result is 1 for a correct answer and 0 for a
 * wrong one.
 *
 * @param part which of the questions these are, for the task name
 */
record ExerciseTask(CandidateCache row, List<Exercise> exercises, String part, Prefill prefill)
    implements LabTask<double[]> {
  private static final String NEXT_QUESTION = "\nQuestion:";

  @Override
  public String name() {
    return "jsonl with %s%s".formatted(row.name(), part);
  }

  @Override
  public double cost() {
    return exercises.stream().mapToDouble(Exercise::cost).sum();
  }

  @Override
  public long peakBytes(LoadedModel model) {
    return exercises.stream()
        .mapToLong(one -> row.peakBytes(model, one.maxLength(), prefill))
        .sum();
  }

  @Override
  public double[] run(WorkerContext context, ProgressListener listener) {
    BatchRunner runner =
        new BatchRunner(context.model(), prefill, new ProgressCounter(listener, cost()));
    List<String> answers =
        runner.generateAnswers(row, exercises, (any, text) -> text.contains(NEXT_QUESTION));
    double[] right = new double[answers.size()];
    for (int i = 0; i < right.length; i++) {
      String answer = answers.get(i).split(NEXT_QUESTION, 2)[0];
      right[i] = exercises.get(i).problem().isSolvedBy(answer) ? 1 : 0;
    }
    return right;
  }

  /** Returns the score over all questions of a row. */
  static Score score(List<double[]> parts) {
    List<Double> samples = parts.stream().flatMapToDouble(Arrays::stream).boxed().toList();
    return new Score.Answers(Proportion.of(samples).estimate(), samples);
  }
}
