package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.task.Numbers;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Worksite;
import java.util.ArrayList;
import java.util.List;

/**
 * A document that is read once, and every question about it, answered after a fork of its cache.
 * The result is 1 for a right answer and 0 for a wrong one, question by question.
 *
 * @param part which of all documents, for its name
 */
record RetrievalPiece(Task task, Contender row, Passage passage, String part, Prefill prefill)
    implements Piece<double[]> {

  @Override
  public String name() {
    return "%s with %s, %d tokens%s".formatted(task.label(), row.name(), passage.context(), part);
  }

  @Override
  public double work() {
    return passage.work();
  }

  @Override
  public long bytes(Model model) {
    // Forks share all but their own questions and answers, and no more than these are open at once.
    int forks = Math.min(Steps.SIDE_BY_SIDE, passage.tails().size());
    int own = passage.tokens() - passage.shared().length + KvCache.TOKENS_PER_PAGE;
    return row.bytes(model, passage.context(), prefill) + forks * row.bytes(model, own, prefill);
  }

  @Override
  public double[] run(Worksite site, WorkListener listener) {
    Model model = site.model();
    Steps steps = new Steps(model, prefill, new Pace(listener, work()));
    double[] right = new double[passage.tails().size()];
    try (KvCache cache = row.open(model, passage.context())) {
      steps.read(cache, passage.shared(), passage.shared().length);
      for (int from = 0; from < right.length; from += Steps.SIDE_BY_SIDE) {
        answer(steps, cache, from, right);
      }
    }
    return right;
  }

  private void answer(Steps steps, KvCache cache, int from, double[] right) {
    int to = Math.min(from + Steps.SIDE_BY_SIDE, right.length);
    List<Draft> drafts = new ArrayList<>();
    try {
      for (int[] tail : passage.tails().subList(from, to)) {
        drafts.add(
            new Draft(cache.fork(), tail, passage.answerTokens(), RetrievalPiece::isAnswered));
      }
      steps.write(drafts);
      for (int i = from; i < to; i++) {
        right[i] = isRight(i, drafts.get(i - from).text()) ? 1 : 0;
      }
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /** A line that holds digits and has ended. */
  private static boolean isAnswered(String text) {
    return text.indexOf('\n') > 0 && Numbers.firstDigits(text).isPresent();
  }

  private boolean isRight(int question, String answer) {
    String expected = passage.questions().get(question).answer();
    return Numbers.firstDigits(answer).filter(expected::equals).isPresent();
  }
}
