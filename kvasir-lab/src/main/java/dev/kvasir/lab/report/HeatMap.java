package dev.kvasir.lab.report;

import static java.util.stream.Collectors.toList;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A map of colored cells with a label for each row and column.
 *
 * @param rowNames labels of rows, from the top
 * @param rowHeight pixels
 * @param gap pixels between cells
 */
record HeatMap(
    String title,
    int width,
    int rowHeight,
    int gap,
    List<String> columnNames,
    List<String> rowNames) {
  /**
   * A cell.
   *
   * @param words in the cell; empty for none
   * @param ink color of the words
   */
  record Cell(int column, int row, String colour, String words, String ink, String tip) {}

  /**
   * @param columnTitle name of the horizontal axis
   */
  SvgPicture picture(String columnTitle, List<Cell> cells) {
    int height = rowHeight * rowNames.size() + 3 * ChartText.LINE;
    SvgPicture picture = new SvgPicture(title, width, height);
    double left = ChartText.width(rowNames) + 8;
    double labelWidth = ChartText.width(columnNames);
    ChartFrame frame =
        new ChartFrame(left, 2, width - labelWidth / 2, 2 + rowHeight * rowNames.size());
    double columnWidth = (frame.right() - left) / columnNames.size();
    int everyRow = Math.max(1, (int) Math.ceil((double) ChartText.LINE / rowHeight));
    for (int row = 0; row < rowNames.size(); row += everyRow) {
      picture.text(left - 8, frame.top() + (row + 0.5) * rowHeight + 4, "end", rowNames.get(row));
    }
    int everyColumn = Math.max(1, (int) Math.ceil((labelWidth + 8) / columnWidth));
    int[] labelled =
        IntStream.range(0, columnNames.size()).filter(i -> i % everyColumn == 0).toArray();
    frame.below(
        picture,
        IntStream.of(labelled).mapToDouble(i -> left + (i + 0.5) * columnWidth).toArray(),
        IntStream.of(labelled).mapToObj(columnNames::get).toList(),
        columnTitle);
    Map<String, List<Cell>> byColour =
        cells.stream().collect(Collectors.groupingBy(Cell::colour, TreeMap::new, toList()));
    byColour.forEach(
        (colour, some) -> {
          picture.beginColour(colour);
          for (Cell cell : some) {
            picture.cell(
                left + cell.column() * columnWidth,
                frame.top() + cell.row() * rowHeight,
                columnWidth - gap,
                rowHeight - gap,
                cell.tip());
          }
          picture.end();
        });
    for (Cell cell : cells) {
      if (!cell.words().isEmpty()) {
        picture.label(
            left + (cell.column() + 0.5) * columnWidth,
            frame.top() + (cell.row() + 0.5) * rowHeight + 4,
            "middle",
            cell.words(),
            cell.ink());
      }
    }
    return picture;
  }
}
