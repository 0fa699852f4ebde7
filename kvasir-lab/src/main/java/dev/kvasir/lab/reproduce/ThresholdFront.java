package dev.kvasir.lab.reproduce;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.lab.search.Trial;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.tune.SalienceSurvey;
import dev.kvasir.lab.tune.ThresholdTuning;
import dev.kvasir.lab.tune.TuneJournal;
import dev.kvasir.lab.tune.TuneSettings;
import dev.kvasir.lab.tune.TuningResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** MixKVQ's Figure 7: the best divergence at each number of bits, found by a search. */
final class ThresholdFront {
  private static final int TRIALS = 30;
  private static final int QUICK_TRIALS = 2;
  private static final double MAX_BITS = 3;

  private ThresholdFront() {}

  static Optional<Figures> search(Conditions conditions) {
    int tokens = conditions.context(4096, 300);
    Optional<SalienceSurvey> survey =
        SalienceSurvey.measure(
            conditions.model(), Novel.start(tokens), tokens, conditions.listener());
    if (survey.isEmpty()) {
      return Optional.empty();
    }
    TuningResult result = tune(conditions, survey.get(), tokens);
    return result.complete() ? Optional.of(figures(result)) : Optional.empty();
  }

  private static TuningResult tune(Conditions conditions, SalienceSurvey survey, int tokens) {
    TuneSettings settings =
        new TuneSettings(
            CacheSpec.parse(PaperCaches.MIXKVQ),
            Task.KLD,
            tokens,
            1,
            conditions.request().samples(TRIALS, QUICK_TRIALS),
            MAX_BITS,
            conditions.request().seed());
    Sources sources =
        Sources.bundled(conditions.request().bundledModel())
            .withText(BundledText.BOOK_NAME, Novel.start(tokens));
    try {
      Path folder = Files.createTempDirectory("kvasir-thresholds");
      Path file = folder.resolve("journal");
      try {
        TuneJournal journal =
            new TuneJournal(file, settings, conditions.model().fingerprint(), sources.text());
        return new ThresholdTuning(conditions.model(), settings, sources, journal)
            .run(survey, conditions.listener());
      } finally {
        Files.deleteIfExists(file);
        Files.deleteIfExists(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Figures figures(TuningResult result) {
    List<Line> lines = new ArrayList<>();
    List<Trial> front =
        result.front().stream().sorted(Comparator.comparingDouble(TuningResult::bits)).toList();
    for (Trial trial : front) {
      Thresholds thresholds = result.thresholds(trial);
      lines.add(
          Line.of(
              "trial %d".formatted(result.trials().indexOf(trial) + 1),
              TuningResult.bits(trial),
              result.figure(trial),
              thresholds.high(),
              thresholds.mid()));
    }
    return new Figures(
        List.of("bits", "KL", "tau BF16", "tau INT4"),
        lines,
        List.of(
            "the front of %d trials by KL divergence; kvasir tune --objective searches by other"
                    .formatted(result.trials().size())
                + " tasks"));
  }
}
