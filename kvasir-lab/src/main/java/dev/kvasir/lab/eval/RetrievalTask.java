package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.task.AnswerNumbers;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;

/**
 * A document that is read once, with every question answered in a fork of its cache. The result is
 * 1 for a correct answer and 0 for a wrong one, by question.
 *
 * @param part which of the documents this is, for the task name
 */
record RetrievalTask(Task task, CandidateCache row, Passage passage, String part, Prefill prefill)
    implements LabTask<double[]> {

  @Override
  public String name() {
    return "%s with %s, %d tokens%s".formatted(task.label(), row.name(), passage.context(), part);
  }

  @Override
  public double cost() {
    return passage.cost();
  }

  @Override
  public long peakBytes(LoadedModel model) {
    // Forks share everything except their questions and answers; this is the maximum of open forks.
    int forks = Math.min(BatchRunner.MAX_BATCH, passage.suffixes().size());
    int own = passage.maxLength() - passage.prefix().length + KvCache.TOKENS_PER_PAGE;
    return row.peakBytes(model, passage.context(), prefill)
        + forks * row.peakBytes(model, own, prefill);
  }

  @Override
  public double[] run(WorkerContext context, ProgressListener listener) {
    LoadedModel model = context.model();
    BatchRunner runner = new BatchRunner(model, prefill, new ProgressCounter(listener, cost()));
    double[] right = new double[passage.suffixes().size()];
    try (KvCache cache = row.newCache(model, passage.context())) {
      runner.readPrompt(cache, passage.prefix(), passage.prefix().length);
      for (int from = 0; from < right.length; from += BatchRunner.MAX_BATCH) {
        answer(runner, cache, from, right);
      }
    }
    return right;
  }

  private void answer(BatchRunner runner, KvCache cache, int from, double[] right) {
    int to = Math.min(from + BatchRunner.MAX_BATCH, right.length);
    List<Draft> drafts = new ArrayList<>();
    try {
      for (int[] suffix : passage.suffixes().subList(from, to)) {
        drafts.add(
            new Draft(cache.fork(), suffix, passage.answerTokens(), RetrievalTask::isAnswered));
      }
      runner.generate(drafts);
      for (int i = from; i < to; i++) {
        right[i] = isRight(i, drafts.get(i - from).text()) ? 1 : 0;
      }
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /** Returns whether a line with digits has ended. */
  private static boolean isAnswered(String text) {
    return text.indexOf('\n') > 0 && AnswerNumbers.firstDigits(text).isPresent();
  }

  private boolean isRight(int question, String answer) {
    String expected = passage.questions().get(question).answer();
    return AnswerNumbers.firstDigits(answer).filter(expected::equals).isPresent();
  }
}
