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
import java.util.function.Supplier;

/**
 * A document that a few rows read once, with every question answered in forks of their caches.
 *
 * @param first index in the task of the first question, which decides its random numbers
 * @param part which of the documents this is, for the task name
 */
record RetrievalTask(
    Task task,
    List<CandidateCache> rows,
    Passage passage,
    int first,
    AnswerSampling sampling,
    Prefill prefill,
    String part)
    implements LabTask<AnswerTask.Texts> {

  @Override
  public String name() {
    return "%s with %s, %d tokens%s"
        .formatted(task.label(), TaskNames.of(rows), passage.context(), part);
  }

  @Override
  public double cost() {
    return rows.size() * passage.cost(sampling.answers());
  }

  @Override
  public long peakBytes(LoadedModel model) {
    // Forks share everything except their questions and answers; this is the maximum of open forks.
    int forks =
        Math.min(
            BatchRunner.MAX_BATCH + 1,
            rows.size() * passage.suffixes().size() * sampling.answers());
    int own = passage.maxLength() - passage.prefix().length + KvCache.TOKENS_PER_PAGE;
    long documents = 0;
    long fork = 0;
    for (CandidateCache row : rows) {
      documents += row.peakBytes(model, passage.context(), prefill);
      fork = Math.max(fork, row.peakBytes(model, own, prefill));
    }
    return documents + forks * fork;
  }

  @Override
  public AnswerTask.Texts run(WorkerContext context, ProgressListener listener) {
    LoadedModel model = context.model();
    BatchRunner runner = new BatchRunner(model, prefill, new ProgressCounter(listener, cost()));
    List<KvCache> caches = new ArrayList<>();
    try {
      rows.forEach(row -> caches.add(row.newCache(model, passage.context())));
      runner.readPrompts(caches, passage.prefix(), passage.prefix().length);
      return answers(runner, caches);
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private AnswerTask.Texts answers(BatchRunner runner, List<KvCache> caches) {
    List<List<List<Draft>>> drafts = new ArrayList<>(); // by row and question
    List<PromptDrafts> prompts = new ArrayList<>();
    for (KvCache cache : caches) {
      Supplier<KvCache> fork = cache::fork;
      List<List<Draft>> ofRow = new ArrayList<>();
      for (int i = 0; i < passage.suffixes().size(); i++) {
        ofRow.add(
            Draft.all(sampling, first + i, passage.answerTokens(), RetrievalTask::isAnswered));
        prompts.add(
            new PromptDrafts(List.of(fork), passage.suffixes().get(i), List.of(ofRow.getLast())));
      }
      drafts.add(ofRow);
    }
    runner.generate(prompts);
    return AnswerTask.Texts.of(drafts);
  }

  /** Returns whether a line with digits has ended. */
  private static boolean isAnswered(String text) {
    return text.indexOf('\n') > 0 && AnswerNumbers.firstDigits(text).isPresent();
  }
}
