package dev.kvasir.lab.eval;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The scores of several sampled answers to each question.
 *
 * @param scores score of each answer from 0 to 1, by question; empty without sampling
 * @param majority score of the most frequent answer, by question; empty if answers cannot be
 *     compared
 */
public record SampledAnswers(List<List<Double>> scores, List<Double> majority)
    implements Serializable {
  /** No sampled answers. */
  public static final SampledAnswers NONE = new SampledAnswers(List.of(), List.of());

  /**
   * Scores answers and their majority.
   *
   * @param votes the answer that each text contains, by question; empty for a text without one. Of
   *     equally frequent answers, the one that comes first wins.
   */
  public static SampledAnswers of(List<List<Double>> scores, List<List<String>> votes) {
    List<Double> majority = new ArrayList<>();
    for (int question = 0; question < scores.size(); question++) {
      int winner = winner(votes.get(question));
      majority.add(winner < 0 ? 0 : scores.get(question).get(winner));
    }
    return new SampledAnswers(List.copyOf(scores), List.copyOf(majority));
  }

  /** Returns the first index of the most frequent vote; -1 if there is none. */
  private static int winner(List<String> votes) {
    Map<String, Integer> counts = new HashMap<>();
    votes.forEach(vote -> counts.merge(vote, 1, Integer::sum));
    int winner = -1;
    for (int i = 0; i < votes.size(); i++) {
      boolean ahead = winner < 0 || counts.get(votes.get(i)) > counts.get(votes.get(winner));
      if (!votes.get(i).isEmpty() && ahead) {
        winner = i;
      }
    }
    return winner;
  }

  /** Returns the number k of answers to each question; 0 without sampling. */
  public int answers() {
    return scores.isEmpty() ? 0 : scores.getFirst().size();
  }

  /** Returns the mean score of the answers to each question. */
  public List<Double> averages() {
    return scores.stream().map(Means::of).toList();
  }

  /** Returns Avg@k, the mean over all answers, with an interval over questions. */
  public Estimate average() {
    return Means.estimate(averages());
  }

  /** Returns Maj@k, the mean score of the most frequent answers. */
  public Estimate majorityScore() {
    return Means.estimate(majority);
  }

  /** Returns pass@1 of each run; run i takes answer i to every question. */
  public List<Double> passes() {
    return IntStream.range(0, answers())
        .mapToObj(run -> Means.of(scores.stream().map(some -> some.get(run)).toList()))
        .toList();
  }

  /** Returns the standard deviation of pass@1 over runs; {@code NaN} for a single one. */
  public double deviation() {
    List<Double> passes = passes();
    double mean = Means.of(passes);
    double squares = passes.stream().mapToDouble(pass -> (pass - mean) * (pass - mean)).sum();
    return Math.sqrt(squares / (passes.size() - 1));
  }
}
