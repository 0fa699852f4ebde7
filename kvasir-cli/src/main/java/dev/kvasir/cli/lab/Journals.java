package dev.kvasir.cli.lab;

import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.report.Provenance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Where evaluations keep what is finished until all of it is. */
final class Journals {
  private static final String PART = ".part-";

  private Journals() {}

  /**
   * Beside a file that is to be written. Figures of another build are not gone on from: code may
   * have changed between the two.
   */
  static EvaluationJournal beside(Path file, Provenance origin) {
    return EvaluationJournal.at(named(file), build(origin));
  }

  /** The same, with the journals of those who measured parts of it. */
  static EvaluationJournal withParts(Path file, Provenance origin) {
    Path folder = file.toAbsolutePath().getParent();
    String begins = file.getFileName() + PART;
    if (!Files.isDirectory(folder)) {
      return beside(file, origin);
    }
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> parts =
          all.filter(each -> each.getFileName().toString().startsWith(begins)).sorted().toList();
      return EvaluationJournal.at(named(file), build(origin), parts);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of one of several processes that share a table. */
  static EvaluationJournal ofPart(Path file, TablePart part, Provenance origin) {
    String name = "%s%s%d-of-%d".formatted(file.getFileName(), PART, part.number(), part.total());
    return beside(file.resolveSibling(name), origin);
  }

  private static Path named(Path file) {
    return file.resolveSibling(file.getFileName() + ".journal");
  }

  private static String build(Provenance origin) {
    return origin.version() + " " + origin.commit().orElse("of no known commit");
  }
}
