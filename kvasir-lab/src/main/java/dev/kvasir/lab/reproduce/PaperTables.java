package dev.kvasir.lab.reproduce;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.claim.Paper;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All tables and figures of the papers. */
public final class PaperTables {
  public static final List<PaperTable> ALL =
      Stream.of(PatternkvTables.ALL, PmkvqTables.ALL, MixkvqTables.ALL, CommvqTables.ALL)
          .flatMap(List::stream)
          .toList();

  private PaperTables() {}

  /** Returns the tables of a paper, in the paper's order. */
  public static List<PaperTable> of(Paper paper) {
    return ALL.stream().filter(table -> table.paper() == paper).toList();
  }

  /** Returns a paper by its name; dashes do not count. */
  public static Paper paper(String name) {
    String plain = name.toLowerCase(Locale.ROOT).replace("-", "");
    return Arrays.stream(Paper.values())
        .filter(paper -> PaperTable.label(paper).equals(plain))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the paper '%s' is unknown; known are %s"
                        .formatted(
                            name,
                            Arrays.stream(Paper.values())
                                .map(PaperTable::label)
                                .collect(Collectors.joining(", ")))));
  }

  /** Returns a table by its name, such as table1, 1 or fig3a. */
  public static PaperTable named(Paper paper, String name) {
    String id = id(name);
    return of(paper).stream()
        .filter(table -> table.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s has no '%s'; known are %s"
                        .formatted(
                            paper.title(),
                            name,
                            of(paper).stream()
                                .map(PaperTable::id)
                                .collect(Collectors.joining(", ")))));
  }

  private static String id(String name) {
    String plain = name.toLowerCase(Locale.ROOT).replace(" ", "");
    if (plain.matches("\\d.*")) {
      return "table" + plain;
    }
    return plain.replaceFirst("^fig\\.?(?=\\d)", "figure").replaceFirst("^tab\\.?(?=\\d)", "table");
  }
}
