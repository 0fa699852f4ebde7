package dev.kvasir.lab.eval;

import dev.kvasir.SamplingOptions;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.eval.DriftTask.DriftSamples;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.sampling.Sampler;
import java.util.ArrayList;
import java.util.List;

/**
 * Continues openings with fp16 and feeds the generated text to every row. Each row attends to its
 * own quantized past, token by token, so errors accumulate as they do during decoding. (A text that
 * is read in blocks meets its quantized past once per block.)
 *
 * <p>Where the most likely token of a row differs, a greedily decoded text would diverge from the
 * reference. (A sampled text would diverge sooner: two unlikely tokens that swap places by a last
 * bit are enough, quantized or not.)
 */
final class DriftRun {
  private final LoadedModel model;
  private final BatchRunner runner;
  private final List<Opening> openings;
  private final ProgressCounter progress;
  private final Batch batch = new Batch();

  DriftRun(
      LoadedModel model, BatchRunner runner, List<Opening> openings, ProgressCounter progress) {
    this.model = model;
    this.runner = runner;
    this.openings = openings;
    this.progress = progress;
  }

  /** Runs all openings in one batch; they have equal lengths. The first row is the reference. */
  DriftSamples run(List<CandidateCache> rows) {
    List<Text> texts = new ArrayList<>();
    try {
      openings.forEach(opening -> texts.add(new Text(opening, rows)));
      for (int i = 0; i < openings.getFirst().tokens(); i++) {
        step(texts);
        progress.add(
            texts.size()
                * rows.size()
                * ProgressCounter.decodeCost(openings.getFirst().prompt().length + i, 1));
      }
      return new DriftSamples(
          texts.stream().map(text -> text.divergences).toList(),
          texts.stream().map(text -> text.sameTop).toList());
    } finally {
      texts.forEach(Text::close);
    }
  }

  /**
   * Feeds the last token of each text to all its rows and samples the next one from the reference.
   */
  private void step(List<Text> texts) {
    batch.clear();
    texts.forEach(Text::add);
    model.forward(batch);
    int at = 0;
    for (Text text : texts) {
      text.take(at);
      at += text.caches.size();
    }
  }

  /** One opening, continued in the caches of all rows. */
  private final class Text {
    private final List<KvCache> caches = new ArrayList<>();
    private final Sampler sampler; // of the reference
    private final double[][] divergences; // (tokens, rows)
    private final boolean[][] sameTop; // (tokens, rows)
    private int token;
    private int generated;

    Text(Opening opening, List<CandidateCache> rows) {
      int last = opening.prompt().length - 1;
      this.token = opening.prompt()[last];
      this.sampler = new Sampler(SamplingOptions.builder().seed(opening.seed()).build());
      this.divergences = new double[opening.tokens()][rows.size()];
      this.sameTop = new boolean[opening.tokens()][rows.size()];
      try {
        rows.forEach(row -> caches.add(row.newCache(model, opening.maxLength())));
        runner.readPrompts(caches, opening.prompt(), last);
      } catch (RuntimeException e) {
        close();
        throw e;
      }
    }

    void add() {
      caches.forEach(cache -> batch.add(cache, token, true));
    }

    /**
     * @param from index in the batch of the logits of its first row
     */
    void take(int from) {
      float[] logits = batch.logits();
      int reference = batch.logitsAt(from);
      int likeliest = ArgMax.of(logits, reference, batch.vocabulary());
      for (int row = 0; row < caches.size(); row++) {
        int at = batch.logitsAt(from + row);
        divergences[generated][row] =
            Distributions.divergence(logits, reference, logits, at, batch.vocabulary());
        sameTop[generated][row] = ArgMax.of(logits, at, batch.vocabulary()) == likeliest;
      }
      token = sampler.sample(logits, reference, batch.vocabulary());
      generated++;
    }

    void close() {
      caches.forEach(KvCache::close);
    }
  }
}
