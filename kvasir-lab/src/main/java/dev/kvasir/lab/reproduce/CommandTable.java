package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A table that another command measures.
 *
 * @param needs what that command needs
 * @param full arguments of the command, without {@code --json}
 * @param quick arguments of the small form
 * @param lines the command's figures by row and column
 */
record CommandTable(
    List<String> needs,
    List<String> full,
    List<String> quick,
    List<String> columns,
    List<CommandLine> lines)
    implements Procedure {

  /**
   * A row.
   *
   * @param figures names of figures of the command, one for each column; a figure that is missing
   *     leaves its cell empty
   */
  record CommandLine(String label, List<String> figures) {}

  @Override
  public Optional<Figures> run(Conditions conditions) {
    List<String> arguments = conditions.request().quick() ? quick : full;
    return conditions.commands().run(arguments).map(this::figures);
  }

  private Figures figures(Map<String, Double> found) {
    List<Line> result = new ArrayList<>();
    for (CommandLine line : lines) {
      List<Cell> cells =
          line.figures().stream()
              .map(name -> found.containsKey(name) ? Cell.of(found.get(name)) : Cell.NONE)
              .toList();
      result.add(new Line(line.label(), "", cells));
    }
    return new Figures(columns, result, List.of());
  }
}
