package dev.kvasir.cli.lab;

import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.report.Provenance;
import java.nio.file.Path;

/** Where evaluations keep what is finished until all of it is. */
final class Journals {
  private Journals() {}

  /**
   * Beside a file that is to be written. Figures of another build are not gone on from: code may
   * have changed between the two.
   */
  static EvaluationJournal beside(Path file, Provenance origin) {
    Path journal = file.resolveSibling(file.getFileName() + ".journal");
    return EvaluationJournal.at(
        journal, origin.version() + " " + origin.commit().orElse("of no known commit"));
  }
}
