package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Continues openings with half precision and holds every row to its text: what a row attends to was
 * written under its own packed past, token by token, so that errors add up as they do in an answer
 * (a text that is read in blocks meets the packed past once a block).
 *
 * <p>Each row also chooses a token, with the seed of the reference. Up to its first other choice
 * its own text would be the same, so one run tells both: how far distributions part along a forced
 * text, and where a free one leaves it.
 */
final class DriftRun {
  private final Model model;
  private final Steps steps;
  private final List<Opening> openings;
  private final Pace pace;
  private final Batch batch = new Batch();

  DriftRun(Model model, Steps steps, List<Opening> openings, Pace pace) {
    this.model = model;
    this.steps = steps;
    this.openings = openings;
    this.pace = pace;
  }

  /** The first row is the reference. */
  void run(List<RowInProgress> rows) {
    List<DriftTally> tallies = rows.stream().map(row -> new DriftTally()).toList();
    openings.forEach(opening -> proceed(opening, rows, tallies));
    for (int i = 0; i < rows.size(); i++) {
      rows.get(i).put(Task.DRIFT, tallies.get(i).score());
    }
  }

  private void proceed(Opening opening, List<RowInProgress> rows, List<DriftTally> tallies) {
    List<KvCache> caches = new ArrayList<>();
    try {
      rows.forEach(row -> caches.add(row.contender().open(opening.longest())));
      int last = opening.prompt().length - 1;
      caches.forEach(cache -> steps.read(cache, opening.prompt(), last));
      List<Sampler> samplers = rows.stream().map(row -> sampler(opening)).toList();
      int token = opening.prompt()[last];
      for (int i = 0; i < opening.tokens(); i++) {
        token = step(caches, samplers, tallies, token);
        pace.count(rows.size() * Pace.writing(last + 1 + i, 1));
      }
      tallies.forEach(DriftTally::endOpening);
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private static Sampler sampler(Opening opening) {
    return new Sampler(SamplingOptions.defaults().withSeed(opening.seed()));
  }

  /** Feeds a token to all rows; answers with the one that the reference chooses after it. */
  private int step(
      List<KvCache> caches, List<Sampler> samplers, List<DriftTally> tallies, int token) {
    batch.clear();
    caches.forEach(cache -> batch.add(cache, token, true));
    model.forward(batch);
    double[] apart = new double[caches.size()];
    for (int i = 0; i < apart.length; i++) {
      apart[i] =
          Distributions.divergence(
              batch.logits(),
              batch.logitsAt(0),
              batch.logits(),
              batch.logitsAt(i),
              batch.vocabulary());
    }
    int chosen = 0;
    for (int i = 0; i < apart.length; i++) {
      int own = samplers.get(i).pick(batch.logits(), batch.logitsAt(i), batch.vocabulary());
      chosen = i == 0 ? own : chosen;
      tallies.get(i).add(apart[i], own == chosen);
    }
    return chosen;
  }
}
