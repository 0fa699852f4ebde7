package dev.kvasir.lab.tune;

import dev.kvasir.codec.mixkvq.MixkvqProfile;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.lab.search.ParetoFront;
import dev.kvasir.lab.search.Trial;
import java.util.Comparator;
import java.util.List;

/**
 * The result of a threshold search.
 *
 * @param trials trials by the shares of channels above both thresholds; their losses are the task's
 *     score, less is better, and bits of a quantized element
 * @param complete whether all trials ran
 */
public record TuningResult(
    TuneSettings settings, SalienceSurvey survey, List<Trial> trials, boolean complete) {
  public List<Trial> front() {
    return ParetoFront.of(trials);
  }

  /**
   * Returns the best trial within the allowed bits, or the smallest if there is none. Of equally
   * good ones, such as those with as many right answers, it is the smallest.
   */
  public Trial pick() {
    Comparator<Trial> byBits = Comparator.comparingDouble(TuningResult::bits);
    Comparator<Trial> byLoss = Comparator.comparingDouble(trial -> trial.losses().getFirst());
    return trials.stream()
        .filter(trial -> bits(trial) <= settings.maxBits())
        .min(byLoss.thenComparing(byBits))
        .orElseGet(() -> trials.stream().min(byBits).orElseThrow());
  }

  public static double bits(Trial trial) {
    return trial.losses().get(1);
  }

  /** Returns the task's score with its original sign. */
  public double figure(Trial trial) {
    double loss = trial.losses().getFirst();
    return settings.task().higherIsBetter() ? -loss : loss;
  }

  public Thresholds thresholds(Trial trial) {
    return thresholds(survey, trial.point());
  }

  static Thresholds thresholds(SalienceSurvey survey, List<Double> shares) {
    return new Thresholds(
        MixkvqProfile.rounded(survey.byQueries().thresholdFor(shares.get(0))),
        MixkvqProfile.rounded(survey.byQueries().thresholdFor(shares.get(1))));
  }

  /** Returns the profile part for the best trial. */
  public MixkvqProfile profile() {
    return new MixkvqProfile(thresholds(pick()), survey.byQueries(), survey.byError());
  }
}
