package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.eval.DriftTask.DriftSamples;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Continues openings with half precision and holds every row to its text: what a row attends to was
 * written under its own packed past, token by token, so that errors add up as they do in an answer
 * (a text that is read in blocks meets the packed past once a block).
 *
 * <p>Where the likeliest token of a row is another one, a text of likeliest tokens would leave that
 * of the reference. (With a seed it would leave it sooner: two unlikely tokens that change places
 * by a last bit are enough, packed or not.)
 */
final class DriftRun {
  private final Model model;
  private final BatchRunner runner;
  private final List<Opening> openings;
  private final ProgressCounter progress;
  private final Batch batch = new Batch();

  DriftRun(Model model, BatchRunner runner, List<Opening> openings, ProgressCounter progress) {
    this.model = model;
    this.runner = runner;
    this.openings = openings;
    this.progress = progress;
  }

  /** All of them are as long, and written side by side. The first row is the reference. */
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

  /** Feeds each text's last token to all its rows, and lets the reference choose the next. */
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
      this.sampler = new Sampler(SamplingOptions.defaults().withSeed(opening.seed()));
      this.divergences = new double[opening.tokens()][rows.size()];
      this.sameTop = new boolean[opening.tokens()][rows.size()];
      try {
        for (CandidateCache row : rows) {
          caches.add(row.newCache(model, opening.maxLength()));
          runner.readPrompt(caches.getLast(), opening.prompt(), last);
        }
      } catch (RuntimeException e) {
        close();
        throw e;
      }
    }

    void add() {
      caches.forEach(cache -> batch.add(cache, token, true));
    }

    /**
     * @param from where the logits of its first row are in the batch
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
