package dev.kvasir.lab.eval;

import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.task.Question;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Aggregates the answers of a row by context length and depth. */
final class RetrievalTally {
  private final List<Double> samples = new ArrayList<>();
  // By context, then by depth: successes and tries.
  private final Map<Integer, int[][]> grid = new TreeMap<>();

  /**
   * @param right correctness by passage and question
   */
  static Score score(List<Passage> passages, List<double[]> right) {
    RetrievalTally tally = new RetrievalTally();
    for (int i = 0; i < passages.size(); i++) {
      for (int question = 0; question < right.get(i).length; question++) {
        tally.add(
            passages.get(i).context(),
            passages.get(i).questions().get(question),
            right.get(i)[question]);
      }
    }
    return new Score.Retrieval(
        Proportion.of(tally.samples).estimate(), List.copyOf(tally.samples), tally.cells());
  }

  private void add(int context, Question question, double right) {
    samples.add(right);
    int depth = Math.min(Score.DEPTHS - 1, (int) (question.depth() * Score.DEPTHS));
    int[] cell = grid.computeIfAbsent(context, length -> new int[Score.DEPTHS][2])[depth];
    cell[0] += (int) right;
    cell[1]++;
  }

  private List<GridCell> cells() {
    List<GridCell> cells = new ArrayList<>();
    grid.forEach(
        (context, depths) -> {
          for (int depth = 0; depth < Score.DEPTHS; depth++) {
            Proportion share = new Proportion(depths[depth][0], depths[depth][1]);
            cells.add(new GridCell(context, depth, share));
          }
        });
    return cells;
  }
}
