package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Lets a text flow through every row's cache at once, block by block: a block attends to its packed
 * past, as text does that a user hands over piece by piece. Side by side, the reference's logits
 * are computed once and never stored for more than a block. At the end every row is weighed: only
 * here do all of them hold the same tokens.
 */
final class StreamRun {
  private final Model model;
  private final int[] text;
  private final Pace pace;
  private final Batch reference = new Batch();
  private final Batch packed = new Batch();

  StreamRun(Model model, int[] text, Pace pace) {
    this.model = model;
    this.text = text;
    this.pace = pace;
  }

  /** The first row is the reference. */
  void run(List<RowInProgress> rows, Set<Task> tasks) {
    List<KvCache> caches = new ArrayList<>();
    try {
      rows.forEach(row -> caches.add(row.contender().open()));
      List<StreamTally> tallies = rows.stream().map(row -> new StreamTally()).toList();
      for (int from = 0; from < text.length - 1; from += Score.BLOCK_TOKENS) {
        for (int i = 0; i < rows.size(); i++) {
          readBlock(i == 0 ? reference : packed, caches.get(i), tallies.get(i), from);
          pace.count(Pace.reading(from, Score.BLOCK_TOKENS));
        }
      }
      double[] speeds = new SpeedProbe(model).tokensPerSecond(caches);
      for (int i = 0; i < rows.size(); i++) {
        rows.get(i).weigh(caches.get(i), speeds[i]);
        tallies.get(i).scoreInto(rows.get(i), tasks);
      }
    } finally {
      caches.forEach(KvCache::close);
    }
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
            text[at + i + 1]);
      }
    }
    tally.endBlock();
  }

  private void forward(Batch batch, KvCache cache, int from, int count) {
    batch.clear();
    for (int i = from; i < from + count; i++) {
      batch.add(cache, text[i], true);
    }
    model.forward(batch);
  }
}
