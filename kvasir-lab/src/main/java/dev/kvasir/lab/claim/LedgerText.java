package dev.kvasir.lab.claim;

import dev.kvasir.lab.claim.Ledger.Entry;
import dev.kvasir.lab.claim.Ledger.Result;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Renders claims for a terminal. */
public final class LedgerText {
  private LedgerText() {}

  /** Returns a claim and its results, each in a line. */
  public static String brief(Entry entry) {
    return head(entry)
        + entry.results().stream().map(LedgerText::line).collect(Collectors.joining())
        + (entry.results().isEmpty() ? "    %s\n".formatted(Verdict.NOT_TRIED.label()) : "");
  }

  /**
   * Returns a claim with the paper's figures, its results, the commands that measured them and what
   * a reader must know.
   *
   * @param folder folder with the measurements, as typed
   */
  public static String full(Entry entry, Path folder) {
    Claim claim = entry.claim();
    StringBuilder text = new StringBuilder(head(entry));
    text.append("    the paper: %s\n".formatted(claim.published()));
    for (Result result : entry.results()) {
      text.append(line(result));
      commands(result, folder).forEach(command -> text.append("      %s\n".formatted(command)));
    }
    if (entry.results().isEmpty()) {
      text.append("    %s\n".formatted(Verdict.NOT_TRIED.label()));
    }
    return claim.remark().isEmpty()
        ? text.toString()
        : text.append("    %s\n".formatted(claim.remark())).toString();
  }

  private static String head(Entry entry) {
    Claim claim = entry.claim();
    return "%2d  %s, %s: %s\n"
        .formatted(entry.number(), claim.paper().title(), claim.section(), claim.statement());
  }

  private static String line(Result result) {
    return "    %-12s %s, %s: %s\n"
        .formatted(
            result.finding().verdict().label(),
            result.bed().title(),
            result.trial().description(),
            result.finding().measured());
  }

  /** Returns the commands of a result, quoted for a shell. */
  private static List<String> commands(Result result, Path folder) {
    Experiment experiment = result.trial().experiment();
    boolean anyModel = experiment.onlyBed().isEmpty();
    Path own = anyModel ? result.bed().folder(folder) : folder;
    Optional<Path> model =
        anyModel && result.bed() != TestBed.BUNDLED
            ? Optional.of(Path.of("MODEL"))
            : Optional.empty();
    return experiment.commands(own, model).stream().map(LedgerText::quoted).toList();
  }

  private static String quoted(List<String> command) {
    return command.stream()
        .map(word -> word.contains(";") ? "\"" + word + "\"" : word)
        .collect(Collectors.joining(" ", "kvasir ", ""));
  }
}
