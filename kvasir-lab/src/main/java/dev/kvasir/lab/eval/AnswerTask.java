package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Requests that a few rows answer, many sequences in each step.
 *
 * @param task name of the task
 * @param first index in the task of the first request, which decides its random numbers
 * @param part which of the requests these are, for the task name
 */
record AnswerTask(
    String task,
    List<CandidateCache> rows,
    List<? extends GenerationRequest> requests,
    int first,
    AnswerSampling sampling,
    Prefill prefill,
    String part)
    implements LabTask<AnswerTask.Texts> {

  /**
   * The answers.
   *
   * @param texts by row, request and answer
   */
  record Texts(List<List<List<String>>> texts) implements Serializable {
    /** Returns the texts of drafts by row, request and answer. */
    static Texts of(List<List<List<Draft>>> drafts) {
      return new Texts(drafts.stream().map(Texts::ofRow).toList());
    }

    private static List<List<String>> ofRow(List<List<Draft>> drafts) {
      return drafts.stream().map(some -> some.stream().map(Draft::text).toList()).toList();
    }

    /** Returns the answers of a row from the results of consecutive tasks. */
    static List<List<String>> of(List<Texts> parts, int row) {
      return parts.stream().flatMap(part -> part.texts.get(row).stream()).toList();
    }
  }

  @Override
  public String name() {
    return "%s with %s%s".formatted(task, TaskNames.of(rows), part);
  }

  @Override
  public double cost() {
    return rows.size()
        * requests.stream()
            .mapToDouble(
                one ->
                    ProgressCounter.prefillCost(0, one.prompt().length - 1)
                        + sampling.answers()
                            * ProgressCounter.decodeCost(one.prompt().length, one.maxTokens()))
            .sum();
  }

  /** Returns the bytes of the largest sequences that fill a batch, and of a prompt in each row. */
  @Override
  public long peakBytes(LoadedModel model) {
    long[] sizes =
        rows.stream()
            .flatMapToLong(
                row ->
                    requests.stream()
                        .mapToLong(one -> row.peakBytes(model, one.maxLength(), prefill)))
            .sorted()
            .toArray();
    long bytes = 0;
    int places = BatchRunner.MAX_BATCH + rows.size();
    for (int i = sizes.length - 1; i >= 0 && places > 0; i--) {
      int taken = Math.min(places, sampling.answers());
      bytes += taken * sizes[i];
      places -= taken;
    }
    return bytes;
  }

  @Override
  public Texts run(WorkerContext context, ProgressListener listener) {
    LoadedModel model = context.model();
    List<List<List<Draft>>> drafts = new ArrayList<>(); // by row and request
    rows.forEach(row -> drafts.add(new ArrayList<>()));
    List<PromptDrafts> prompts = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      GenerationRequest request = requests.get(i);
      List<Supplier<KvCache>> sources = new ArrayList<>();
      List<List<Draft>> ofRequest = new ArrayList<>();
      for (int row = 0; row < rows.size(); row++) {
        CandidateCache candidate = rows.get(row);
        sources.add(() -> candidate.newCache(model, request.maxLength()));
        ofRequest.add(Draft.all(sampling, first + i, request.maxTokens(), request::isComplete));
        drafts.get(row).add(ofRequest.getLast());
      }
      prompts.add(new PromptDrafts(sources, request.prompt(), ofRequest));
    }
    new BatchRunner(model, prefill, new ProgressCounter(listener, cost())).generate(prompts);
    return Texts.of(drafts);
  }
}
