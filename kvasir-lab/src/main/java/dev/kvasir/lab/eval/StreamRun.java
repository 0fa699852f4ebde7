package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.eval.StreamTask.StreamScores;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a text into the caches of several rows, block by block. Each block attends to its quantized
 * past, as in a conversation. The logits of the reference are computed once for all rows and stored
 * for one block only. Footprints are measured at the end, where all rows hold the same tokens.
 */
final class StreamRun {
  private final LoadedModel model;
  private final BatchRunner runner;
  private final StreamText text;
  private final ProgressCounter progress;
  private final Batch reference = new Batch();
  private final Batch quantized = new Batch();

  StreamRun(LoadedModel model, BatchRunner runner, StreamText text, ProgressCounter progress) {
    this.model = model;
    this.runner = runner;
    this.text = text;
    this.progress = progress;
  }

  /** Runs the text; the first row is the reference. */
  StreamScores run(List<CandidateCache> rows) {
    List<KvCache> caches = new ArrayList<>();
    try {
      rows.forEach(row -> caches.add(row.newCache(model, text.tokens())));
      List<StreamTally> tallies = rows.stream().map(row -> new StreamTally()).toList();
      caches.forEach(cache -> runner.readPrompt(cache, text.ids(), text.promptTokens()));
      for (int from = text.promptTokens(); from < text.tokens(); from += Score.BLOCK_TOKENS) {
        for (int i = 0; i < rows.size(); i++) {
          readBlock(i == 0 ? reference : quantized, caches.get(i), tallies.get(i), from);
          progress.add(ProgressCounter.prefillCost(from, Score.BLOCK_TOKENS));
        }
      }
      List<Footprint> footprints = text.measuresFootprint() ? footprints(caches) : List.of();
      return new StreamScores(tallies.stream().map(this::scores).toList(), footprints);
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private List<Footprint> footprints(List<KvCache> caches) {
    double[] speeds = new double[caches.size()];
    Arrays.fill(speeds, Double.NaN);
    if (text.timed()) {
      speeds = new SpeedProbe(model).tokensPerSecond(caches);
    }
    List<Footprint> footprints = new ArrayList<>();
    for (int i = 0; i < speeds.length; i++) {
      footprints.add(Footprint.of(caches.get(i), model.config().cacheShape(), speeds[i]));
    }
    return footprints;
  }

  private Map<Task, Score> scores(StreamTally tally) {
    Map<Task, Score> scores = new EnumMap<>(Task.class);
    text.tasks()
        .forEach(
            task -> scores.put(task, task.isDistance() ? tally.divergence() : tally.perplexity()));
    return scores;
  }

  /**
   * Reads a block in one step, or in several if a budget cannot hold the block in full precision.
   */
  private void readBlock(Batch batch, KvCache cache, StreamTally tally, int from) {
    int end = from + Score.BLOCK_TOKENS;
    int count;
    for (int at = from; at < end; at += count) {
      count = Math.max(1, cache.stepCapacity(end - at));
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
