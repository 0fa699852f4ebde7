package dev.kvasir.lab.tune;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.search.Range;
import dev.kvasir.lab.search.TpeSampler;
import dev.kvasir.lab.search.Trial;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.PartListener;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Searches the thresholds of MixKVQ. The search parameters are the shares of channels above each
 * threshold, which are comparable across models; quantiles of the salience convert shares to
 * thresholds.
 *
 * <p>Trials run a few at a time, so that they share the computation of the reference.
 */
public final class ThresholdTuning {
  /** Share of full-precision channels; one eighth of them would take as much as all at two bits. */
  private static final Range HIGH_SHARE = new Range(0, 0.12);

  /** Share of channels in full precision or at four bits. */
  private static final Range UPPER_SHARE = new Range(0, 0.6);

  private static final int TRIALS_PER_ROUND = 5;
  private static final int PROGRAM_STEPS = 40;

  private final LoadedModel model;
  private final TuneSettings settings;
  private final Sources sources;
  private final TuneJournal journal;
  private final TpeSampler sampler;

  public ThresholdTuning(
      LoadedModel model, TuneSettings settings, Sources sources, TuneJournal journal) {
    this.model = model;
    this.settings = settings;
    this.sources = sources;
    this.journal = journal;
    this.sampler = new TpeSampler(List.of(HIGH_SHARE, UPPER_SHARE), settings.seed());
  }

  public TuningResult run(SalienceSurvey survey, ProgressListener listener) {
    return run(survey, new LocalRunner(WorkerContext.of(model)), listener);
  }

  /**
   * Runs the trials that the journal lacks, or fewer if the listener cancels.
   *
   * @param runner a runner with the same model
   */
  public TuningResult run(SalienceSurvey survey, Runner runner, ProgressListener listener) {
    List<Trial> trials = new ArrayList<>(journal.trials());
    boolean complete = true;
    while (complete && trials.size() < settings.trials()) {
      int count = Math.min(TRIALS_PER_ROUND, settings.trials() - trials.size());
      List<List<Double>> points = propose(trials, count);
      complete = evaluate(survey, points, trials, runner, listener);
      journal.write(trials);
    }
    return new TuningResult(settings, survey, List.copyOf(trials), complete);
  }

  private List<List<Double>> propose(List<Trial> trials, int count) {
    List<List<Double>> points = new ArrayList<>();
    while (points.size() < count) {
      points.add(sampler.next(trials, points));
    }
    return points;
  }

  /** Adds the finished trials and returns whether all finished. */
  private boolean evaluate(
      SalienceSurvey survey,
      List<List<Double>> points,
      List<Trial> trials,
      Runner runner,
      ProgressListener listener) {
    List<CacheSpec> specs = points.stream().map(point -> spec(survey, point)).toList();
    EvaluationSettings round =
        new EvaluationSettings(
                specs,
                Set.of(settings.task()),
                List.of(settings.context()),
                settings.samples(),
                PROGRAM_STEPS,
                settings.seed())
            .untimed();
    Evaluation evaluation =
        new CacheEvaluator(model, round, sources)
            .run(
                runner,
                new PartListener(listener, trials.size(), points.size(), settings.trials()),
                EvaluationJournal.none());
    for (int i = 0; i < points.size(); i++) {
      List<Double> point = points.get(i);
      row(evaluation, specs.get(i)).ifPresent(row -> trials.add(trial(point, row)));
    }
    return evaluation.complete();
  }

  private CacheSpec spec(SalienceSurvey survey, List<Double> point) {
    Thresholds thresholds = TuningResult.thresholds(survey, point);
    return CacheSpec.parse(
        "%s,high=%s,mid=%s".formatted(settings.spec(), thresholds.high(), thresholds.mid()));
  }

  private Optional<Row> row(Evaluation evaluation, CacheSpec spec) {
    return evaluation.rows().stream()
        .filter(row -> row.spec().equals(spec.text()))
        .filter(row -> row.scores().containsKey(settings.task()))
        .findFirst();
  }

  private Trial trial(List<Double> point, Row row) {
    double value = row.scores().get(settings.task()).estimate().value();
    return new Trial(
        point,
        List.of(
            settings.task().higherIsBetter() ? -value : value,
            row.footprint().quantizedBitsPerValue(model.config().cacheShape())));
  }
}
