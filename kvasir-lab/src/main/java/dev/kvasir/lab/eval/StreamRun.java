package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.model.Batch;
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
          Batch batch = i == 0 ? reference : packed;
          forward(batch, caches.get(i), from);
          tally(tallies.get(i), batch, from);
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

  private void forward(Batch batch, KvCache cache, int from) {
    batch.clear();
    for (int i = from; i < from + Score.BLOCK_TOKENS; i++) {
      batch.add(cache, text[i], true);
    }
    model.forward(batch);
  }

  private void tally(StreamTally tally, Batch batch, int from) {
    for (int i = 0; i < Score.BLOCK_TOKENS; i++) {
      tally.add(
          reference.logits(),
          batch.logits(),
          batch.logitsAt(i),
          batch.vocabulary(),
          text[from + i + 1]);
    }
    tally.endBlock();
  }
}
