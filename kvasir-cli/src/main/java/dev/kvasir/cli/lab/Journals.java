package dev.kvasir.cli.lab;

import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.report.Provenance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The journals in which evaluations save partial results. */
final class Journals {
  private static final String PART = ".part-";

  private Journals() {}

  /**
   * Returns the journal next to a result file. Results of another build are not reused, because the
   * code may have changed.
   */
  static EvaluationJournal nextTo(Path file, Provenance origin) {
    return EvaluationJournal.at(named(file), build(origin));
  }

  /** Returns the journal together with those of processes that measured parts. */
  static EvaluationJournal withParts(Path file, Provenance origin) {
    Path folder = file.toAbsolutePath().getParent();
    String begins = file.getFileName() + PART;
    if (!Files.isDirectory(folder)) {
      return nextTo(file, origin);
    }
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> parts =
          all.filter(each -> each.getFileName().toString().startsWith(begins)).sorted().toList();
      return EvaluationJournal.at(named(file), build(origin), parts);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the journal of one of several processes that share a table. */
  static EvaluationJournal ofPart(Path file, TablePart part, Provenance origin) {
    String name = "%s%s%d-of-%d".formatted(file.getFileName(), PART, part.number(), part.total());
    return nextTo(file.resolveSibling(name), origin);
  }

  private static Path named(Path file) {
    return file.resolveSibling(file.getFileName() + ".journal");
  }

  private static String build(Provenance origin) {
    return origin.version() + " " + origin.commit().orElse("of no known commit");
  }
}
