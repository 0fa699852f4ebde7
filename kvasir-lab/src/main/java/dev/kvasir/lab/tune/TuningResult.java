package dev.kvasir.lab.tune;

import dev.kvasir.codec.mixkvq.MixkvqProfile;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.lab.search.ParetoFront;
import dev.kvasir.lab.search.Trial;
import java.util.Comparator;
import java.util.List;

/**
 * What a search found so far.
 *
 * @param trials by the shares of channels above both thresholds; their losses are the task's
 *     figure, less is better, and bits of a packed value
 * @param complete whether all trials were made
 */
public record TuningResult(
    TuneSettings settings, SalienceSurvey survey, List<Trial> trials, boolean complete) {
  public List<Trial> front() {
    return ParetoFront.of(trials);
  }

  /** The best of those within the bits that are allowed, or the smallest where none is. */
  public Trial pick() {
    Comparator<Trial> byBits = Comparator.comparingDouble(TuningResult::bits);
    return trials.stream()
        .filter(trial -> bits(trial) <= settings.maxBits())
        .min(Comparator.comparingDouble(trial -> trial.losses().getFirst()))
        .orElseGet(() -> trials.stream().min(byBits).orElseThrow());
  }

  public static double bits(Trial trial) {
    return trial.losses().get(1);
  }

  /** The task's own figure, not turned over. */
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

  /** The part of a profile that the pick makes. */
  public MixkvqProfile profile() {
    return new MixkvqProfile(thresholds(pick()), survey.byQueries(), survey.byError());
  }
}
