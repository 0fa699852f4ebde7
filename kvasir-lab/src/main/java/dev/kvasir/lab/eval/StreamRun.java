package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Lets a text flow through several rows' caches at once, block by block: a block attends to its
 * packed past, as text does that a user hands over piece by piece. Side by side, the reference's
 * logits are computed once and never stored for more than a block. At the end rows are weighed:
 * only here do all of them hold the same tokens.
 */
final class StreamRun {
  private final Model model;
  private final Steps steps;
  private final StreamText text;
  private final Pace pace;
  private final Batch reference = new Batch();
  private final Batch packed = new Batch();

  StreamRun(Model model, Steps steps, StreamText text, Pace pace) {
    this.model = model;
    this.steps = steps;
    this.text = text;
    this.pace = pace;
  }

  /** The first row is the reference. */
  void run(List<RowInProgress> rows) {
    List<KvCache> caches = new ArrayList<>();
    try {
      rows.forEach(row -> caches.add(row.contender().open(text.tokens())));
      List<StreamTally> tallies = rows.stream().map(row -> new StreamTally()).toList();
      caches.forEach(cache -> steps.read(cache, text.ids(), text.promptTokens()));
      for (int from = text.promptTokens(); from < text.tokens(); from += Score.BLOCK_TOKENS) {
        for (int i = 0; i < rows.size(); i++) {
          readBlock(i == 0 ? reference : packed, caches.get(i), tallies.get(i), from);
          pace.count(Pace.reading(from, Score.BLOCK_TOKENS));
        }
      }
      if (text.weighs()) {
        weigh(rows, caches);
      }
      for (int i = 0; i < rows.size(); i++) {
        score(rows.get(i), tallies.get(i));
      }
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private void weigh(List<RowInProgress> rows, List<KvCache> caches) {
    double[] speeds = new double[rows.size()];
    Arrays.fill(speeds, Double.NaN);
    if (text.timed()) {
      speeds = new SpeedProbe(model).tokensPerSecond(caches);
    }
    for (int i = 0; i < rows.size(); i++) {
      rows.get(i).weigh(caches.get(i), speeds[i]);
    }
  }

  private void score(RowInProgress row, StreamTally tally) {
    text.perplexity().ifPresent(task -> row.put(task, tally.perplexity()));
    text.divergence().ifPresent(task -> row.put(task, tally.divergence()));
  }

  /** In one step, or in several where a budget has no room for a block before it is packed. */
  private void readBlock(Batch batch, KvCache cache, StreamTally tally, int from) {
    int end = from + Score.BLOCK_TOKENS;
    int count;
    for (int at = from; at < end; at += count) {
      count = Math.max(1, cache.stepOf(end - at));
      forward(batch, cache, at, count);
      for (int i = 0; i < count; i++) {
        tally.add(
            reference.logits(),
            reference.logitsAt(at - from + i),
            batch.logits(),
            batch.logitsAt(i),
            batch.vocabulary(),
            text.ids()[at + i + 1]);
      }
    }
    tally.endBlock();
  }

  private void forward(Batch batch, KvCache cache, int from, int count) {
    batch.clear();
    for (int i = from; i < from + count; i++) {
      batch.add(cache, text.ids()[i], true);
    }
    model.forward(batch);
  }
}
