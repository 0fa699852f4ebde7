package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The figures that a paper prints in a table.
 *
 * @param columns names of the columns
 * @param models the parts of the table, one for each model
 */
public record Published(List<String> columns, List<ModelPart> models) {
  private static final String MODEL = "= ";

  /** The rows of one model. */
  public record ModelPart(String model, List<Line> lines) {
    Optional<Line> line(String label) {
      return lines.stream().filter(line -> line.label().equals(label)).findFirst();
    }
  }

  /** Returns the figures of a resource; empty for figures that the paper only draws. */
  static Optional<Published> read(String name) {
    String resource = "published/%s.tsv".formatted(name);
    try (InputStream stream = Published.class.getResourceAsStream(resource)) {
      return stream == null
          ? Optional.empty()
          : Optional.of(parse(new String(stream.readAllBytes(), StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Parses lines of tab-separated cells: names of columns after an empty one, then for each model a
   * line {@code = NAME} and its rows. A cell is a number, a number with its deviation such as
   * {@code 41.04±6.74}, or a dash.
   */
  static Published parse(String text) {
    List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
    List<String> columns = cells(lines.getFirst());
    List<ModelPart> models = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      if (line.startsWith(MODEL)) {
        models.add(new ModelPart(line.substring(MODEL.length()), new ArrayList<>()));
      } else {
        String label = line.split("\t")[0];
        List<Cell> cells = cells(line).stream().map(Published::cell).toList();
        models.getLast().lines().add(new Line(label, "", cells));
      }
    }
    return new Published(columns, models);
  }

  private static List<String> cells(String line) {
    String[] all = line.split("\t", -1);
    return Arrays.asList(all).subList(1, all.length);
  }

  private static Cell cell(String text) {
    if (text.equals("-") || text.isBlank()) {
      return Cell.NONE;
    }
    String[] parts = text.split("±");
    double deviation = parts.length > 1 ? Double.parseDouble(parts[1]) : Double.NaN;
    return new Cell(Double.parseDouble(parts[0]), deviation);
  }

  /** Returns the part of a model, by a part of its name; the first without a name. */
  public Optional<ModelPart> model(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    return models.stream()
        .filter(part -> part.model().toLowerCase(Locale.ROOT).contains(wanted))
        .findFirst();
  }

  /** Returns the figure of a row and column, if the paper has it. */
  Cell cell(ModelPart part, String row, String column) {
    int index = columns.indexOf(column);
    return part.line(row)
        .filter(line -> index >= 0 && index < line.cells().size())
        .map(line -> line.cells().get(index))
        .orElse(Cell.NONE);
  }

  /** Returns the names of the paper's models, separated by commas. */
  public String modelNames() {
    return String.join(", ", models.stream().map(ModelPart::model).toList());
  }
}
