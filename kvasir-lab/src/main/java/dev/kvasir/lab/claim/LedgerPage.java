package dev.kvasir.lab.claim;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.claim.Ledger.Entry;
import dev.kvasir.lab.claim.Ledger.Result;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Renders the ledger as a Markdown document. */
public final class LedgerPage {
  private static final String HEAD =
      """
      # Ledger: the papers' claims, tested

      This page lists what the papers claim about their methods and whether it holds in Kvasir.

          ./kvasir claims            # print the ledger
          ./kvasir claims --run 4    # repeat the experiments behind claim 4

      `./kvasir claims --out docs/claims.md` generates the page from `docs/results/`; do not edit it.

      - **Form.** "Paper's" is the method with its published settings and, as far as the lab has them, its conditions. "Equal
        terms" gives all methods the same text, 16 sinks and a window of 128 tokens. The overview shows the verdict in the
        paper's form where it was measured.
      - **Measures.** *prose* is the KL divergence from fp16 on a novel, *kld* the same on text of the model itself; *ppl* is
        perplexity; *chain* and *needle* are shares of correct answers ([lab](lab.md#tasks)).
      - **Intervals** are 95%, from 2,000 bootstrap draws of blocks of 128 tokens or of questions, in pairs; other figures draw
        layers or samples, and speeds show their slowest and fastest round. A claim holds or fails only if the whole
        interval is on one side of its bound; "as good as" has a margin, which the claim names. A figure without an
        interval decides nothing.
      """;

  private LedgerPage() {}

  public static void write(List<Entry> entries, Path folder, Path file) {
    AtomicFile.write(file, text(entries, folder));
  }

  /**
   * @param folder folder with the measurements, as typed
   */
  public static String text(List<Entry> entries, Path folder) {
    List<TestBed> beds = measured(entries);
    Map<String, Integer> commands = commands(entries, folder);
    StringBuilder text = new StringBuilder(HEAD);
    text.append(models(beds));
    beds.forEach(bed -> text.append('\n').append(summary(entries, bed)).append('\n'));
    for (Paper paper : Paper.values()) {
      List<Entry> own = entries.stream().filter(one -> one.claim().paper() == paper).toList();
      text.append("\n## %s\n\n".formatted(paper.title()));
      text.append(overview(own, beds));
      text.append("\n### Measurements: %s\n\n".formatted(paper.title()));
      text.append(details(own, folder, commands));
      text.append(remarks(own));
    }
    return text.append(commandList(commands)).toString();
  }

  /** Returns the models with a figure, the bundled one in any case. */
  private static List<TestBed> measured(List<Entry> entries) {
    TreeSet<TestBed> beds = new TreeSet<>(List.of(TestBed.BUNDLED));
    entries.forEach(entry -> entry.results().forEach(result -> beds.add(result.bed())));
    return List.copyOf(beds);
  }

  private static String models(List<TestBed> beds) {
    return beds.stream()
        .map(bed -> "%s: %s".formatted(bed.title(), bed.description()))
        .collect(Collectors.joining("; ", "- **Models.** ", ".\n"));
  }

  private static String overview(List<Entry> entries, List<TestBed> beds) {
    StringBuilder text =
        new StringBuilder("| # | where | claim | paper |")
            .append(joined(beds, TestBed::title))
            .append("\n|---:|---|---|---|")
            .append("---|".repeat(beds.size()))
            .append('\n');
    for (Entry entry : entries) {
      Claim claim = entry.claim();
      text.append(
          "| %d | %s | %s | %s |%s\n"
              .formatted(
                  entry.number(),
                  claim.section(),
                  claim.statement(),
                  claim.published(),
                  joined(beds, bed -> cell(entry.verdict(bed)))));
    }
    return text.toString();
  }

  private static String joined(List<TestBed> beds, Function<TestBed, String> cell) {
    return beds.stream()
        .map(bed -> " %s |".formatted(cell.apply(bed)))
        .collect(Collectors.joining());
  }

  private static String cell(Verdict verdict) {
    return verdict == Verdict.NOT_TRIED ? "" : verdict.label();
  }

  private static String details(List<Entry> entries, Path folder, Map<String, Integer> commands) {
    StringBuilder text = new StringBuilder("| # | form | model | measured | verdict | command |\n");
    text.append("|---:|---|---|---|---|---:|\n");
    for (Entry entry : entries) {
      for (Result result : entry.results()) {
        text.append(
            "| %d | %s | %s | %s | %s | %d |\n"
                .formatted(
                    entry.number(),
                    result.trial().description(),
                    result.bed().title(),
                    result.finding().measured(),
                    result.finding().verdict().label(),
                    commands.get(command(result, folder))));
      }
    }
    return text.toString();
  }

  private static String remarks(List<Entry> entries) {
    String text =
        entries.stream()
            .filter(entry -> !entry.claim().remark().isEmpty())
            .map(entry -> "- %d: %s\n".formatted(entry.number(), entry.claim().remark()))
            .collect(Collectors.joining());
    return text.isEmpty() ? "" : "\n" + text;
  }

  /** Returns the number of each command, from 1 on. */
  private static Map<String, Integer> commands(List<Entry> entries, Path folder) {
    Map<String, Integer> numbers = new LinkedHashMap<>();
    entries.forEach(
        entry ->
            entry
                .results()
                .forEach(
                    result -> numbers.putIfAbsent(command(result, folder), numbers.size() + 1)));
    return numbers;
  }

  private static String commandList(Map<String, Integer> commands) {
    StringBuilder text = new StringBuilder("\n## Commands\n\n| # | command |\n|---:|---|\n");
    commands.forEach((command, number) -> text.append("| %d | %s |\n".formatted(number, command)));
    return text.toString();
  }

  /** Returns the commands of a result quoted for a shell. */
  private static String command(Result result, Path folder) {
    Experiment experiment = result.trial().experiment();
    boolean anyModel = experiment.onlyBed().isEmpty();
    Path own = anyModel ? result.bed().folder(folder) : folder;
    Optional<Path> model =
        anyModel && result.bed() != TestBed.BUNDLED
            ? Optional.of(Path.of("MODEL"))
            : Optional.empty();
    return experiment.commands(own, model).stream()
        .map(LedgerPage::quoted)
        .collect(Collectors.joining("; "));
  }

  private static String quoted(List<String> command) {
    return command.stream()
        .map(word -> word.contains(";") ? "\"" + word + "\"" : word)
        .collect(Collectors.joining(" ", "`kvasir ", "`"));
  }

  /** Returns the number of claims with each verdict on a model. */
  public static String summary(List<Entry> entries, TestBed bed) {
    List<String> counts = new ArrayList<>();
    for (Verdict verdict : Verdict.values()) {
      long count = entries.stream().filter(entry -> entry.verdict(bed) == verdict).count();
      if (count > 0) {
        counts.add("%d %s".formatted(count, verdict.pluralLabel()));
      }
    }
    return "%s: of %d claims %s.".formatted(bed.title(), entries.size(), String.join(", ", counts));
  }
}
