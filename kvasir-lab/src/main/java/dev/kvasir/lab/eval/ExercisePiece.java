package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.eval.Workload.Exercise;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Worksite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The user's own questions, answered side by side. The result is 1 for a right answer and 0 for a
 * wrong one.
 *
 * @param part which of all questions, for its name
 */
record ExercisePiece(Contender row, List<Exercise> exercises, String part, Prefill prefill)
    implements Piece<double[]> {
  private static final String NEXT_QUESTION = "\nQuestion:";

  @Override
  public String name() {
    return "jsonl with %s%s".formatted(row.name(), part);
  }

  @Override
  public double work() {
    return exercises.stream().mapToDouble(Exercise::work).sum();
  }

  @Override
  public long bytes(Model model) {
    return exercises.stream().mapToLong(one -> row.bytes(model, one.tokens(), prefill)).sum();
  }

  @Override
  public double[] run(Worksite site, WorkListener listener) {
    Model model = site.model();
    Steps steps = new Steps(model, prefill, new Pace(listener, work()));
    List<Draft> drafts = new ArrayList<>();
    try {
      for (Exercise exercise : exercises) {
        drafts.add(
            new Draft(
                row.open(model, exercise.tokens()),
                exercise.prompt(),
                exercise.mostTokens(),
                text -> text.contains(NEXT_QUESTION)));
      }
      steps.write(drafts);
      double[] right = new double[drafts.size()];
      for (int i = 0; i < right.length; i++) {
        String answer = drafts.get(i).text().split(NEXT_QUESTION, 2)[0];
        right[i] = exercises.get(i).problem().isSolvedBy(answer) ? 1 : 0;
      }
      return right;
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /** Of all questions of a row. */
  static Score score(List<double[]> parts) {
    List<Double> samples = parts.stream().flatMapToDouble(Arrays::stream).boxed().toList();
    return new Score.Answers(Share.of(samples).estimate(), samples);
  }
}
