package dev.kvasir.lab.claim;

import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.claim.Ledger.Entry;
import dev.kvasir.lab.claim.Ledger.Result;
import dev.kvasir.lab.claim.Trial.Form;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Renders the ledger as a Markdown document: a line for each claim, with its verdicts. */
public final class LedgerPage {
  private static final String HEAD =
      """
      # Ledger: the papers' claims, tested

      What the papers claim about their methods, and whether it holds in Kvasir.

          ./kvasir claims --show 4   # claim 4: the paper's figures, our scores and their commands
          ./kvasir claims --run 4    # repeat its experiments
          ./kvasir claims --out docs/claims.md    # generate this page from docs/results/

      A verdict stands before the figure that decides it, with its 95% interval: a difference in points, a figure with its
      unit, or else the ratio of the first score to the second. *In italics*: the method with its published settings and
      conditions. Otherwise on equal terms: the same text, 16 sinks and a window of 128 tokens. A claim holds or fails only if
      the whole interval is on one side of its bound; a figure without an interval decides nothing. `--show` has the details.
      """;

  private LedgerPage() {}

  public static void write(List<Entry> entries, Path file) {
    AtomicFile.write(file, text(entries));
  }

  public static String text(List<Entry> entries) {
    List<TestBed> beds = measured(entries);
    StringBuilder text = new StringBuilder(HEAD).append('\n');
    beds.forEach(
        bed -> text.append("- %s %s.\n".formatted(summary(entries, bed), bed.description())));
    for (Paper paper : Paper.values()) {
      List<Entry> own = entries.stream().filter(one -> one.claim().paper() == paper).toList();
      text.append("\n## %s\n\n".formatted(paper.title())).append(table(own, measured(own)));
    }
    return text.toString();
  }

  /** Returns the models with a figure, the bundled one in any case. */
  private static List<TestBed> measured(List<Entry> entries) {
    TreeSet<TestBed> beds = new TreeSet<>(List.of(TestBed.BUNDLED));
    entries.forEach(entry -> entry.results().forEach(result -> beds.add(result.bed())));
    return List.copyOf(beds);
  }

  private static String table(List<Entry> entries, List<TestBed> beds) {
    StringBuilder text =
        new StringBuilder("| # | claim |")
            .append(joined(beds, TestBed::title))
            .append("\n|---:|---|")
            .append("---|".repeat(beds.size()))
            .append('\n');
    for (Entry entry : entries) {
      Claim claim = entry.claim();
      text.append(
          "| %d | %s |%s\n"
              .formatted(entry.number(), statement(claim), joined(beds, bed -> cell(entry, bed))));
    }
    return text.toString();
  }

  /** Returns the claim and where the paper makes it. */
  private static String statement(Claim claim) {
    String text = claim.statement().replaceAll("\\.$", "");
    return text.endsWith(")")
        ? "%s; %s)".formatted(text.substring(0, text.length() - 1), claim.section())
        : "%s (%s)".formatted(text, claim.section());
  }

  private static String joined(List<TestBed> beds, Function<TestBed, String> cell) {
    return beds.stream()
        .map(bed -> " %s |".formatted(cell.apply(bed)))
        .collect(Collectors.joining());
  }

  /** Returns the verdict in the paper's form and the first one on equal terms, if there are any. */
  private static String cell(Entry entry, TestBed bed) {
    return Stream.of(Form.values())
        .map(form -> entry.result(bed, form))
        .flatMap(Optional::stream)
        .map(LedgerPage::cell)
        .collect(Collectors.joining("<br>"));
  }

  private static String cell(Result result) {
    Finding finding = result.finding();
    String text = (finding.verdict().label() + " " + finding.figure()).strip();
    // An interval of positive numbers needs no words.
    text = text.replaceAll("\\((\\d[\\d.]*) to ", "($1–");
    return result.trial().form() == Form.PAPER ? "*" + text + "*" : text;
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
