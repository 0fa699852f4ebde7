package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.dataset.Item;
import dev.kvasir.lab.dataset.Judge;
import dev.kvasir.lab.eval.SampledAnswers;
import dev.kvasir.lab.reproduce.Figures.Cell;
import java.util.ArrayList;
import java.util.List;

/** The score of a row in a data set, in percent. */
final class AnswerScore {
  private AnswerScore() {}

  /**
   * @param answers by item; empty if the row has none
   */
  static Cell of(List<Item> items, List<List<String>> answers, AnswerColumn column) {
    if (answers.isEmpty()) {
      return Cell.NONE;
    }
    return switch (column.summary()) {
      case MEAN -> Cell.of(100 * mean(items, answers, column.judge()));
      case MAJORITY ->
          Cell.of(100 * sampled(items, answers, column.judge()).majorityScore().value());
      case PASS -> {
        SampledAnswers sampled = sampled(items, answers, column.judge());
        yield new Cell(100 * sampled.average().value(), 100 * sampled.deviation());
      }
    };
  }

  private static double mean(List<Item> items, List<List<String>> answers, int judge) {
    double points = 0;
    double outOf = 0;
    for (int i = 0; i < items.size(); i++) {
      for (String answer : answers.get(i)) {
        Judge.Mark mark = items.get(i).judges().get(judge).mark(answer);
        points += mark.points();
        outOf += mark.outOf();
      }
    }
    return points / outOf;
  }

  private static SampledAnswers sampled(List<Item> items, List<List<String>> answers, int judge) {
    List<List<Double>> scores = new ArrayList<>();
    List<List<String>> votes = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      Judge one = items.get(i).judges().get(judge);
      scores.add(answers.get(i).stream().map(answer -> share(one.mark(answer))).toList());
      votes.add(answers.get(i).stream().map(one::vote).toList());
    }
    return SampledAnswers.of(scores, votes);
  }

  private static double share(Judge.Mark mark) {
    return mark.points() / mark.outOf();
  }
}
