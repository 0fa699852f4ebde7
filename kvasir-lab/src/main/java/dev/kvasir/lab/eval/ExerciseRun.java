package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.Workload.Exercise;
import java.util.ArrayList;
import java.util.List;

/** Lets the model answer the user's own questions. */
final class ExerciseRun {
  private final Steps steps;
  private final List<Exercise> exercises;
  private final List<Double> samples = new ArrayList<>();

  ExerciseRun(Steps steps, List<Exercise> exercises) {
    this.steps = steps;
    this.exercises = exercises;
  }

  Score run(RowInProgress row) {
    for (int from = 0; from < exercises.size(); from += Steps.SIDE_BY_SIDE) {
      int to = Math.min(from + Steps.SIDE_BY_SIDE, exercises.size());
      answer(row, exercises.subList(from, to));
    }
    return new Score.Answers(Share.of(samples).estimate(), List.copyOf(samples));
  }

  private void answer(RowInProgress row, List<Exercise> together) {
    List<Draft> drafts = new ArrayList<>();
    try {
      for (Exercise exercise : together) {
        drafts.add(
            new Draft(
                row.contender().open(exercise.tokens()),
                exercise.prompt(),
                exercise.mostTokens(),
                text -> text.contains("\nQuestion:")));
      }
      steps.write(drafts);
      for (int i = 0; i < together.size(); i++) {
        String answer = drafts.get(i).text().split("\nQuestion:", 2)[0];
        samples.add(together.get(i).problem().isSolvedBy(answer) ? 1.0 : 0.0);
      }
    } finally {
      drafts.forEach(Draft::close);
    }
  }
}
