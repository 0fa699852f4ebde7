package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.claim.Paper;
import java.util.Optional;
import java.util.function.Function;

/** A table without its procedure. */
record TableDraft(Paper paper, String id, String title, int decimals) {
  PaperTable by(Procedure procedure) {
    return new PaperTable(paper, id, title, decimals, procedure);
  }

  PaperTable by(Function<Conditions, Optional<Figures>> analysis) {
    return by(Analysis.of(analysis));
  }

  /** Returns a table that no command reproduces. */
  PaperTable drawing(String reason) {
    return by(new NoMeasurement(reason));
  }
}
