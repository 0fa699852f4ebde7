package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Worksite;
import java.io.Serializable;
import java.util.List;

/**
 * Openings that are continued in the caches of a few rows.
 *
 * @param rows the reference first
 * @param openings of the same lengths
 * @param part which of all openings, for its name
 */
record DriftPiece(List<Contender> rows, List<Opening> openings, String part, Prefill prefill)
    implements Piece<DriftPiece.Departures> {

  /**
   * How far rows were from the reference.
   *
   * @param apart divergence, by opening: (tokens, rows)
   * @param same whether the likeliest token was the reference's: (tokens, rows)
   */
  record Departures(List<double[][]> apart, List<boolean[][]> same) implements Serializable {}

  @Override
  public String name() {
    return "drift with %s%s".formatted(Names.of(rows), part);
  }

  @Override
  public double work() {
    return rows.size() * openings.stream().mapToDouble(Opening::work).sum();
  }

  @Override
  public long bytes(Model model) {
    int tokens = openings.getFirst().longest();
    return openings.size()
        * rows.stream().mapToLong(row -> row.bytes(model, tokens, prefill)).sum();
  }

  @Override
  public Departures run(Worksite site, WorkListener listener) {
    Pace pace = new Pace(listener, work());
    return new DriftRun(site.model(), new Steps(site.model(), prefill, pace), openings, pace)
        .run(rows);
  }
}
