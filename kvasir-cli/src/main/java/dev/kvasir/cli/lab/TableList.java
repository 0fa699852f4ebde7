package dev.kvasir.cli.lab;

import dev.kvasir.lab.claim.Paper;
import dev.kvasir.lab.reproduce.PaperTable;
import dev.kvasir.lab.reproduce.PaperTables;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Lists the tables of papers with their needs and commands. */
final class TableList {
  /** Longer lists of files are cut; docs/reproduce.md has them all. */
  private static final int MOST_NEEDS = 4;

  private final PrintStream out;

  TableList(PrintStream out) {
    this.out = out;
  }

  void print(Optional<Paper> chosen) {
    List<Paper> papers = chosen.map(List::of).orElseGet(() -> Arrays.asList(Paper.values()));
    for (Paper paper : papers) {
      out.println(paper.title());
      PaperTables.of(paper).forEach(this::print);
    }
    out.flush();
  }

  private void print(PaperTable table) {
    out.println("  %-14s %s".formatted(table.id(), table.title()));
    List<String> needs = table.procedure().needs();
    String shown =
        needs.isEmpty()
            ? "a model only"
            : String.join("; ", needs.subList(0, Math.min(MOST_NEEDS, needs.size())));
    String more =
        needs.size() > MOST_NEEDS ? "; %d more files".formatted(needs.size() - MOST_NEEDS) : "";
    if (table.isRunnable()) {
      out.println("  %-14s needs: %s%s".formatted("", shown, more));
      out.println("  %-14s %s".formatted("", table.command()));
    } else {
      out.println("  %-14s %s".formatted("", shown));
    }
  }
}
