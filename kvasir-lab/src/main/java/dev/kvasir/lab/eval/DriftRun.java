package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.eval.DriftPiece.Departures;
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

  /** All of them are as long, and written side by side. The first row is the reference. */
  Departures run(List<Contender> rows) {
    List<Text> texts = new ArrayList<>();
    try {
      openings.forEach(opening -> texts.add(new Text(opening, rows)));
      for (int i = 0; i < openings.getFirst().tokens(); i++) {
        step(texts);
        pace.count(
            texts.size() * rows.size() * Pace.writing(openings.getFirst().prompt().length + i, 1));
      }
      return new Departures(
          texts.stream().map(text -> text.apart).toList(),
          texts.stream().map(text -> text.same).toList());
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
    private final double[][] apart; // (tokens, rows)
    private final boolean[][] same; // (tokens, rows)
    private int token;
    private int written;

    Text(Opening opening, List<Contender> rows) {
      int last = opening.prompt().length - 1;
      this.token = opening.prompt()[last];
      this.sampler = new Sampler(SamplingOptions.defaults().withSeed(opening.seed()));
      this.apart = new double[opening.tokens()][rows.size()];
      this.same = new boolean[opening.tokens()][rows.size()];
      try {
        for (Contender row : rows) {
          caches.add(row.open(model, opening.longest()));
          steps.read(caches.getLast(), opening.prompt(), last);
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
      int likeliest = Likeliest.of(logits, reference, batch.vocabulary());
      for (int row = 0; row < caches.size(); row++) {
        int at = batch.logitsAt(from + row);
        apart[written][row] =
            Distributions.divergence(logits, reference, logits, at, batch.vocabulary());
        same[written][row] = Likeliest.of(logits, at, batch.vocabulary()) == likeliest;
      }
      token = sampler.pick(logits, reference, batch.vocabulary());
      written++;
    }

    void close() {
      caches.forEach(KvCache::close);
    }
  }
}
