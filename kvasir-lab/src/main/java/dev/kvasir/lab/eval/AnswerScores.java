package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.Workload.Exercise;
import dev.kvasir.lab.eval.Workload.Program;
import dev.kvasir.lab.task.AnswerNumbers;
import dev.kvasir.lab.task.Question;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;

/** Scores the answers of a row, given by question and answer. */
final class AnswerScores {
  private AnswerScores() {}

  static Score chain(List<Program> programs, List<List<String>> attempts) {
    List<List<Double>> solved =
        each(programs, attempts, (program, text) -> program.isSolvedBy(text) ? 1.0 : 0.0);
    List<List<Double>> steps =
        each(programs, attempts, (program, text) -> (double) program.chain().rightSteps(text));
    List<Double> stepSamples = steps.stream().map(Means::of).toList();
    SampledAnswers sampled = sampled(solved, each(programs, attempts, Program::answerOf));
    List<Double> samples = averages(solved);
    return new Score.Chain(
        estimate(solved, samples),
        samples,
        Means.estimate(stepSamples),
        programs.getFirst().chain().steps(),
        stepSamples,
        sampled);
  }

  static Score exercises(List<Exercise> exercises, List<List<String>> attempts) {
    List<List<Double>> solved =
        each(exercises, attempts, (exercise, text) -> exercise.isSolvedBy(text) ? 1.0 : 0.0);
    List<Double> samples = averages(solved);
    return new Score.Answers(
        estimate(solved, samples),
        samples,
        sampled(solved, each(exercises, attempts, Exercise::answerOf)));
  }

  /**
   * @param passages documents with their questions
   * @param attempts answers to the questions of all documents, in order
   */
  static Score retrieval(List<Passage> passages, List<List<String>> attempts) {
    List<Question> questions =
        passages.stream().flatMap(passage -> passage.questions().stream()).toList();
    List<List<Double>> right =
        each(
            questions,
            attempts,
            (question, text) -> digits(text).equals(question.answer()) ? 1.0 : 0.0);
    List<Double> samples = averages(right);
    return new Score.Retrieval(
        estimate(right, samples),
        samples,
        grid(passages, right),
        sampled(right, each(questions, attempts, (question, text) -> digits(text))));
  }

  private static String digits(String text) {
    return AnswerNumbers.firstDigits(text).orElse("");
  }

  private static <Q, V> List<List<V>> each(
      List<Q> questions, List<List<String>> attempts, BiFunction<Q, String, V> function) {
    List<List<V>> values = new ArrayList<>();
    for (int i = 0; i < questions.size(); i++) {
      Q question = questions.get(i);
      values.add(attempts.get(i).stream().map(text -> function.apply(question, text)).toList());
    }
    return values;
  }

  private static List<Double> averages(List<List<Double>> right) {
    return right.stream().map(Means::of).toList();
  }

  private static Estimate estimate(List<List<Double>> right, List<Double> samples) {
    return isSingle(right) ? Proportion.of(samples).estimate() : Means.estimate(samples);
  }

  private static SampledAnswers sampled(List<List<Double>> right, List<List<String>> votes) {
    return isSingle(right) ? SampledAnswers.NONE : SampledAnswers.of(right, votes);
  }

  private static boolean isSingle(List<List<Double>> right) {
    return right.getFirst().size() == 1;
  }

  /** Counts answers by context length and depth. */
  private static List<GridCell> grid(List<Passage> passages, List<List<Double>> right) {
    Map<Integer, int[][]> counts = new TreeMap<>(); // by context, then by depth: successes, tries
    int next = 0;
    for (Passage passage : passages) {
      int[][] depths =
          counts.computeIfAbsent(passage.context(), length -> new int[Score.DEPTHS][2]);
      for (Question question : passage.questions()) {
        int[] cell = depths[Math.min(Score.DEPTHS - 1, (int) (question.depth() * Score.DEPTHS))];
        for (double one : right.get(next)) {
          cell[0] += (int) one;
          cell[1]++;
        }
        next++;
      }
    }
    List<GridCell> cells = new ArrayList<>();
    counts.forEach(
        (context, depths) -> {
          for (int depth = 0; depth < Score.DEPTHS; depth++) {
            Proportion share = new Proportion(depths[depth][0], depths[depth][1]);
            cells.add(new GridCell(context, depth, share));
          }
        });
    return cells;
  }
}
