package dev.kvasir.lab.claim;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.claim.Ledger.Entry;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Renders the ledger as a Markdown document. */
public final class LedgerPage {
  private static final String HEAD =
      """
      # Ledger: the papers' claims, tested

      This page lists what the papers claim about their methods and whether it holds in Kvasir on the bundled model.

          ./kvasir claims            # print the ledger
          ./kvasir claims --run 4    # repeat the experiment behind claim 4

      `./kvasir claims --out docs/claims.md` generates the page from `docs/results/`; do not edit it. The bundled model has
      28 million parameters and heads of 64 channels, the papers' models have 7 to 70 billion parameters. Every row keeps 16
      attention sinks. *prose* is the KL divergence from fp16 on a novel, *kld* the same on text of the model itself; *chain*
      and *needle* are shares of correct answers ([lab](lab.md#tasks)). A claim holds or fails only beyond sampling error.
      [Benchmarks](benchmarks.md#which-verdicts-change) list the verdicts that differ on TinyLlama 1.1B.
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
      text.append("| # | where | claim | measured | verdict | why |\n");
      text.append("|---:|---|---|---|---|---|\n");
      entries.stream()
          .filter(entry -> entry.claim().paper() == paper)
          .forEach(entry -> text.append(line(entry)));
    }
    return text.append(commands(entries, folder)).toString();
  }

  /** Returns a table of the commands and the claims that each one tests. */
  private static String commands(List<Entry> entries, Path folder) {
    Map<String, List<String>> claims =
        entries.stream()
            .collect(
                Collectors.groupingBy(
                    entry -> command(entry.claim().experiment(), folder),
                    LinkedHashMap::new,
                    Collectors.mapping(
                        entry -> String.valueOf(entry.number()), Collectors.toList())));
    StringBuilder text = new StringBuilder("\n## Commands\n\n| claims | command |\n|---|---|\n");
    claims.forEach(
        (command, numbers) ->
            text.append("| %s | %s |\n".formatted(String.join(", ", numbers), command)));
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

  private static String line(Entry entry) {
    Claim claim = entry.claim();
    return "| %d | %s | %s | %s | %s | %s |\n"
        .formatted(
            entry.number(),
            claim.section(),
            claim.statement(),
            entry.finding().measured(),
            entry.finding().verdict().label(),
            reason(entry));
  }
}
