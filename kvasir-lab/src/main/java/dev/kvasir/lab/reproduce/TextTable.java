package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.lab.reproduce.Published.ModelPart;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Figures as text, each with the published one in parentheses. */
public final class TextTable {
  private static final int WIDTH = 100;
  private static final String NONE = "-";

  private final PaperTable table;
  private final Figures figures;
  private final Optional<Published> published;
  private final Optional<ModelPart> part;

  /**
   * @param model part of the name of the paper's model to show; empty for the first
   */
  public TextTable(PaperTable table, Figures figures, String model) {
    this.table = table;
    this.figures = figures;
    this.published = table.published();
    this.part = published.flatMap(all -> all.model(model));
  }

  /** Returns the lines of the table, its caption first. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("%s, %s: %s".formatted(table.paper().title(), table.caption(), table.title()));
    int label = figures.lines().stream().mapToInt(line -> line.label().length()).max().orElse(0);
    int from = 0;
    while (from < figures.columns().size()) {
      int to = from + 1;
      int width = label + columnWidth(from);
      while (to < figures.columns().size() && width + columnWidth(to) <= WIDTH) {
        width += columnWidth(to++);
      }
      lines.addAll(section(label, from, to));
      from = to;
    }
    part.ifPresent(
        shown -> lines.add("In parentheses: the paper's figures of %s".formatted(shown.model())));
    figures.notes().forEach(note -> lines.add("Note: " + note));
    return lines;
  }

  private List<String> section(int label, int from, int to) {
    List<String> lines = new ArrayList<>();
    StringBuilder head = new StringBuilder(" ".repeat(label));
    for (int i = from; i < to; i++) {
      head.append(right(figures.columns().get(i), columnWidth(i)));
    }
    lines.add(head.toString());
    for (Line line : figures.lines()) {
      StringBuilder text = new StringBuilder(line.label());
      text.append(" ".repeat(label - line.label().length()));
      for (int i = from; i < to; i++) {
        text.append(right(cell(line, i), columnWidth(i)));
      }
      lines.add(text.toString());
    }
    return lines;
  }

  private int columnWidth(int column) {
    int widest =
        figures.lines().stream().mapToInt(line -> cell(line, column).length()).max().orElse(0);
    return 2 + Math.max(widest, figures.columns().get(column).length());
  }

  private String cell(Line line, int column) {
    String own = text(line.cells().get(column));
    Cell paper =
        part.map(shown -> published.get().cell(shown, line.label(), figures.columns().get(column)))
            .orElse(Cell.NONE);
    return paper.isEmpty() ? own : "%s (%s)".formatted(own, text(paper));
  }

  private String text(Cell cell) {
    if (cell.isEmpty()) {
      return NONE;
    }
    String value = String.format(Locale.ROOT, "%." + table.decimals() + "f", cell.value());
    return Double.isNaN(cell.deviation())
        ? value
        : value + String.format(Locale.ROOT, "±%." + table.decimals() + "f", cell.deviation());
  }

  private static String right(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }
}
