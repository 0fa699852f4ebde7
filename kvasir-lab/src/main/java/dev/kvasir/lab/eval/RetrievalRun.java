package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.task.Numbers;
import dev.kvasir.lab.task.Question;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads each document once and answers every question about it after a fork of its cache. */
final class RetrievalRun {
  private final Steps steps;
  private final List<Passage> passages;
  private final List<Double> samples = new ArrayList<>();
  // By context, then by depth; each right and tries.
  private final Map<Integer, int[][]> grid = new TreeMap<>();

  RetrievalRun(Steps steps, List<Passage> passages) {
    this.steps = steps;
    this.passages = passages;
  }

  Score run(RowInProgress row) {
    for (Passage passage : passages) {
      try (KvCache cache = row.contender().open(passage.context())) {
        steps.read(cache, passage.shared(), passage.shared().length);
        for (int from = 0; from < passage.tails().size(); from += Steps.SIDE_BY_SIDE) {
          answer(passage, cache, from);
        }
      }
    }
    return new Score.Retrieval(Share.of(samples).estimate(), List.copyOf(samples), cells());
  }

  private void answer(Passage passage, KvCache cache, int from) {
    int to = Math.min(from + Steps.SIDE_BY_SIDE, passage.tails().size());
    List<Draft> drafts = new ArrayList<>();
    try {
      for (int[] tail : passage.tails().subList(from, to)) {
        drafts.add(new Draft(cache.fork(), tail, passage.answerTokens(), RetrievalRun::isAnswered));
      }
      steps.write(drafts);
      for (int i = from; i < to; i++) {
        tally(passage, passage.questions().get(i), drafts.get(i - from).text());
      }
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /** A line that holds digits and has ended. */
  private static boolean isAnswered(String text) {
    return text.indexOf('\n') > 0 && Numbers.firstDigits(text).isPresent();
  }

  private void tally(Passage passage, Question question, String answer) {
    boolean right = Numbers.firstDigits(answer).filter(question.answer()::equals).isPresent();
    samples.add(right ? 1.0 : 0.0);
    int depth = Math.min(Score.DEPTHS - 1, (int) (question.depth() * Score.DEPTHS));
    int[] cell =
        grid.computeIfAbsent(passage.context(), context -> new int[Score.DEPTHS][2])[depth];
    cell[0] += right ? 1 : 0;
    cell[1]++;
  }

  private List<GridCell> cells() {
    List<GridCell> cells = new ArrayList<>();
    grid.forEach(
        (context, depths) -> {
          for (int depth = 0; depth < Score.DEPTHS; depth++) {
            Share share = new Share(depths[depth][0], depths[depth][1]);
            cells.add(new GridCell(context, depth, share));
          }
        });
    return cells;
  }
}
