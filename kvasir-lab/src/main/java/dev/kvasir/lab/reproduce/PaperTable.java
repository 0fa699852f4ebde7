package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.claim.Paper;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A table or figure of a paper.
 *
 * @param id its name on the command line, such as table1 or figure3a
 * @param title what it shows
 * @param decimals digits after the point
 */
public record PaperTable(Paper paper, String id, String title, int decimals, Procedure procedure) {

  /** Returns the name of the paper on the command line. */
  public static String label(Paper paper) {
    return paper.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the name of the table as the paper prints it, such as Table 1. */
  public String caption() {
    String kind = id.startsWith("table") ? "Table " : "Figure ";
    return kind + id.replaceFirst("^(table|figure)", "");
  }

  /** Returns the figures that the paper prints. */
  public Optional<Published> published() {
    return Published.read(label(paper) + "-" + id);
  }

  /** Returns whether a run can reproduce it. */
  public boolean isRunnable() {
    return !(procedure instanceof NoMeasurement);
  }

  /** Returns the command of the full table. */
  public String command() {
    StringBuilder command =
        new StringBuilder("kvasir reproduce %s %s --model FILE".formatted(label(paper), id));
    for (String option : List.of("--data FOLDER", "--profile FILE", "--run-code")) {
      String name = option.split(" ")[0];
      if (procedure.needs().stream().anyMatch(need -> need.contains(name))) {
        command.append(' ').append(option);
      }
    }
    return command.toString();
  }
}
