package dev.kvasir.lab.report;

import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.ReportSection.Panel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** The divergence of each block of text, as a line for each row. */
final class DivergenceChart {
  private static final int WIDTH = 560;
  private static final int HEIGHT = 320;
  private static final String TITLE = "KL divergence from fp16, in nats";

  private DivergenceChart() {}

  static ReportSection section(Evaluation evaluation) {
    List<Row> drawn =
        evaluation.rows().stream()
            .filter(row -> samples(row).stream().anyMatch(value -> value > 0))
            .toList();
    ChartLegend legend = new ChartLegend();
    for (Row row : drawn) {
      RowStyle style = RowStyle.of(row, evaluation.rows());
      legend.line(row.spec(), style, style.dash(), "");
    }
    return new ReportSection(
        "along",
        "Divergence along the text",
        "How far the next token’s distribution is from that of fp16: the mean of each 128 tokens."
            + " Blocks in full precision are left out.",
        legend,
        false,
        drawn.isEmpty()
            ? List.of()
            : List.of(
                new Panel(
                    TITLE,
                    "mean of each 128 tokens, logarithmic",
                    picture(drawn, evaluation.rows()))));
  }

  private static List<Double> samples(Row row) {
    Score score = row.scores().get(Task.KLD);
    return score == null ? List.of() : score.samples();
  }

  private static SvgPicture picture(List<Row> drawn, List<Row> rows) {
    int blocks = samples(drawn.getFirst()).size();
    ScoreAxis divergence =
        ScoreAxis.decades(
            drawn.stream()
                .flatMap(row -> samples(row).stream())
                .mapToDouble(Double::doubleValue)
                .toArray());
    SvgPicture picture = new SvgPicture(TITLE, WIDTH, HEIGHT);
    ChartFrame frame = ChartFrame.of(WIDTH, HEIGHT, divergence.labels());
    frame.levels(
        picture,
        divergence.ticks().stream().mapToDouble(tick -> divergence.at(tick, frame)).toArray(),
        divergence.labels());
    Axis tokens = new Axis(blocks * Score.BLOCK_TOKENS, frame.left(), frame.right());
    frame.below(
        picture,
        tokens.ticks().stream().mapToDouble(tokens::at).toArray(),
        tokens.ticks().stream().map(tick -> ChartText.count(tick.longValue())).toList(),
        "tokens scored");
    for (Row row : drawn) {
      line(picture, row, RowStyle.of(row, rows), tokens, divergence, frame);
    }
    for (int block = 0; block < blocks; block++) {
      double from = tokens.at(block * Score.BLOCK_TOKENS);
      double to = tokens.at((block + 1) * Score.BLOCK_TOKENS);
      picture
          .begin(tip(drawn, block))
          .bar(from, frame.top(), to - from, frame.bottom() - frame.top(), "transparent", 1)
          .end();
    }
    return picture;
  }

  /** Draws a line for each run of blocks that have a divergence. */
  private static void line(
      SvgPicture picture,
      Row row,
      RowStyle style,
      Axis tokens,
      ScoreAxis divergence,
      ChartFrame frame) {
    List<double[]> run = new ArrayList<>();
    for (int block = 0; block <= samples(row).size(); block++) {
      double value = block < samples(row).size() ? samples(row).get(block) : 0;
      if (value > 0) {
        run.add(
            new double[] {
              tokens.at((block + 1) * Score.BLOCK_TOKENS), divergence.at(value, frame)
            });
      } else if (!run.isEmpty()) {
        if (run.size() == 1) {
          picture.dot(run.getFirst()[0], run.getFirst()[1], 2.5, style.colour(), 1);
        }
        picture.dashedLine(run, style.colour(), style.dash());
        run = new ArrayList<>();
      }
    }
  }

  private static String tip(List<Row> drawn, int block) {
    return drawn.stream()
        .filter(row -> block < samples(row).size() && samples(row).get(block) > 0)
        .sorted(Comparator.comparing((Row row) -> samples(row).get(block)).reversed())
        .map(row -> row.spec() + ": " + ChartText.digits(samples(row).get(block)))
        .collect(
            Collectors.joining(
                "\n",
                "up to token %s%n".formatted(ChartText.count((block + 1L) * Score.BLOCK_TOKENS)),
                ""));
  }
}
