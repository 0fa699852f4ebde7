package dev.kvasir.lab.claim;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.claim.Ledger.Entry;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Renders the ledger as a Markdown document. */
public final class LedgerPage {
  private static final String HEAD =
      """
      # Claims of the papers, tried here

      Written by `./kvasir claims --out docs/claims.md` from the files that the commands below leave in `docs/results/`, and
      never by hand: `./kvasir claims --run N` tries claim N again. All figures are of the bundled model, 28 million
      parameters with heads of 64 channels, and 16 first tokens in full precision in every row; papers have models of 7 to
      70 billion. *prose* is divergence from fp16 on a novel, *kld* on the model's own text, *chain* and *needle* shares of
      right answers ([lab.md](lab.md)). A claim holds or fails beyond sampling error: rows are compared block by block of
      the same text, or question by question.
      """;

  private LedgerPage() {}

  public static void write(List<Entry> entries, Path folder, Path file) {
    AtomicFile.write(file, text(entries, folder));
  }

  /**
   * @param folder folder with the measurements, as typed
   */
  public static String text(List<Entry> entries, Path folder) {
    StringBuilder text = new StringBuilder(HEAD);
    text.append('\n').append(summary(entries)).append('\n');
    for (Paper paper : Paper.values()) {
      text.append("\n## %s\n\n".formatted(paper.title()));
      text.append("| # | where | claim | here | verdict | why | command |\n");
      text.append("|---:|---|---|---|---|---|---|\n");
      entries.stream()
          .filter(entry -> entry.claim().paper() == paper)
          .forEach(entry -> text.append(line(entry, folder)));
    }
    return text.toString();
  }

  /** Returns the number of claims with each verdict. */
  public static String summary(List<Entry> entries) {
    return Arrays.stream(Verdict.values())
        .map(
            verdict ->
                "%d %s"
                    .formatted(
                        entries.stream()
                            .filter(entry -> entry.finding().verdict() == verdict)
                            .count(),
                        verdict.pluralLabel()))
        .collect(Collectors.joining(", ", "Of %d claims: ".formatted(entries.size()), "."));
  }

  /** Returns why a claim fails; other claims need no reason. */
  private static String reason(Entry entry) {
    return switch (entry.finding().verdict()) {
      case FAILS, OPEN -> entry.claim().failureReason();
      case HOLDS, NOT_TRIED -> "";
    };
  }

  /** Returns the command quoted for a shell. */
  private static String command(Experiment experiment, Path folder) {
    return experiment.command(folder).stream()
        .map(word -> word.contains(";") ? "\"" + word + "\"" : word)
        .collect(Collectors.joining(" ", "`kvasir ", "`"));
  }

  private static String line(Entry entry, Path folder) {
    Claim claim = entry.claim();
    return "| %d | %s | %s | %s | %s | %s | %s |\n"
        .formatted(
            entry.number(),
            claim.section(),
            claim.statement(),
            entry.finding().measured(),
            entry.finding().verdict().label(),
            reason(entry),
            command(claim.experiment(), folder));
  }
}
