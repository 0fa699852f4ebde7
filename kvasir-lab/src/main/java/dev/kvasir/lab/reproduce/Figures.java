package dev.kvasir.lab.reproduce;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The figures of a table.
 *
 * @param columns names of the columns
 * @param lines one line for each row of the table
 * @param notes what a reader must know about the figures, a sentence each
 */
public record Figures(List<String> columns, List<Line> lines, List<String> notes) {
  public Figures {
    columns = List.copyOf(columns);
    lines = List.copyOf(lines);
    notes = List.copyOf(notes);
  }

  /**
   * A row.
   *
   * @param detail the cache or setting behind the label; may be empty
   */
  public record Line(String label, String detail, List<Cell> cells) {
    static Line of(String label, double... values) {
      return new Line(label, "", Arrays.stream(values).mapToObj(Cell::of).toList());
    }
  }

  /**
   * A figure.
   *
   * @param value {@code NaN} if there is none
   * @param deviation standard deviation over runs; {@code NaN} if there is none
   */
  public record Cell(double value, double deviation) {
    public static final Cell NONE = of(Double.NaN);

    static Cell of(double value) {
      return new Cell(value, Double.NaN);
    }

    public boolean isEmpty() {
      return Double.isNaN(value);
    }
  }

  Figures withNotes(List<String> more) {
    return new Figures(columns, lines, Stream.concat(notes.stream(), more.stream()).toList());
  }
}
