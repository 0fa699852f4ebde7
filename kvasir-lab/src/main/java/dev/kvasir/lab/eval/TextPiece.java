package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Worksite;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * A text through the caches of a few rows.
 *
 * @param rows the reference first
 */
record TextPiece(List<Contender> rows, StreamText text, Prefill prefill)
    implements Piece<TextPiece.Readings> {

  /**
   * What came out of the text, row by row.
   *
   * @param footprints none where rows are not weighed at its end
   */
  record Readings(List<Map<Task, Score>> scores, List<Footprint> footprints)
      implements Serializable {}

  @Override
  public String name() {
    return "%s with %s".formatted(text.weighs() ? "the text" : "the book", Names.of(rows));
  }

  @Override
  public double work() {
    return rows.size() * text.work();
  }

  @Override
  public long bytes(Model model) {
    return rows.stream().mapToLong(row -> row.bytes(model, text.tokens(), prefill)).sum();
  }

  @Override
  public Readings run(Worksite site, WorkListener listener) {
    Pace pace = new Pace(listener, work());
    return new StreamRun(site.model(), new Steps(site.model(), prefill, pace), text, pace)
        .run(rows);
  }
}
