package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.TextStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * Runs batches of sequences through the model, reports progress and supports cancellation between
 * steps.
 */
final class BatchRunner {
  /**
   * Prompt tokens of a step; the same as in a session, so that an evaluation behaves like normal
   * use.
   */
  private static final int PREFILL_CHUNK = 256;

  /** Maximum number of sequences that are decoded together; they share each read of the weights. */
  static final int MAX_BATCH = 32;

  private final LoadedModel model;
  private final Prefill prefill;
  private final ProgressCounter progress;
  private final Set<Integer> endOfText;
  private final Batch batch = new Batch();

  BatchRunner(LoadedModel model, Prefill prefill, ProgressCounter progress) {
    this.model = model;
    this.prefill = prefill;
    this.progress = progress;
    this.endOfText = model.tokenizer().endOfText();
  }

  /**
   * Prefills the ids before {@code to} of a prompt that starts at the end of the cache. The prompt
   * is quantized during prefill or at its end, as the settings or the cache ask for.
   */
  void readPrompt(KvCache cache, int[] prompt, int to) {
    if (prefill == Prefill.EXACT || cache.defersPrompts()) {
      cache.deferQuantization(true);
      readChunks(cache, prompt, to);
      cache.deferQuantization(false);
    } else {
      readChunks(cache, prompt, to);
    }
  }

  private void readChunks(KvCache cache, int[] prompt, int to) {
    int count;
    for (int from = 0; from < to; from += count) {
      count = Math.max(1, cache.stepCapacity(Math.min(PREFILL_CHUNK, to - from)));
      double cost = ProgressCounter.prefillCost(cache.length(), count);
      batch.clear();
      for (int i = from; i < from + count; i++) {
        batch.add(cache, prompt[i], false);
      }
      model.forward(batch);
      progress.add(cost);
    }
  }

  /** Continues each draft greedily; at most {@link #MAX_BATCH} drafts. */
  void generate(List<Draft> drafts) {
    List<ActiveDraft> active = new ArrayList<>();
    for (Draft draft : drafts) {
      readPrompt(draft.cache(), draft.prompt(), draft.prompt().length - 1);
      active.add(new ActiveDraft(draft));
    }
    while (!active.isEmpty()) {
      batch.clear();
      active.forEach(entry -> batch.add(entry.draft.cache(), entry.next, true));
      model.forward(batch);
      double cost = 0;
      for (int i = 0; i < active.size(); i++) {
        cost +=
            active.get(i).take(ArgMax.of(batch.logits(), batch.logitsAt(i), batch.vocabulary()));
      }
      active.removeIf(entry -> entry.finished);
      progress.add(cost);
    }
  }

  /**
   * Generates an answer to every request, each in a cache of its own.
   *
   * @param isComplete returns whether the answer so far is complete
   * @return the generated texts
   */
  <A extends GenerationRequest> List<String> generateAnswers(
      CandidateCache row, List<A> requests, BiPredicate<A, String> isComplete) {
    List<Draft> drafts = new ArrayList<>();
    try {
      for (A one : requests) {
        drafts.add(
            new Draft(
                row.newCache(model, one.maxLength()),
                one.prompt(),
                one.maxTokens(),
                text -> isComplete.test(one, text)));
      }
      generate(drafts);
      return drafts.stream().map(Draft::text).toList();
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /** A draft that is still being decoded. */
  private final class ActiveDraft {
    private final Draft draft;
    private final TextStream stream = model.tokenizer().stream(true);
    private int next;
    private int generated;
    private boolean finished;

    ActiveDraft(Draft draft) {
      this.draft = draft;
      this.next = draft.prompt()[draft.prompt().length - 1];
    }

    /**
     * Appends a token and returns the cost that this has used up, including the cost saved by an
     * early end.
     */
    double take(int token) {
      int past = draft.cache().length();
      next = token;
      generated++;
      boolean over = endOfText.contains(token);
      boolean enough = !over && draft.append(stream.push(token));
      if (over || enough || generated == draft.maxTokens()) {
        finished = true;
        draft.append(stream.finish());
      }
      return ProgressCounter.decodeCost(past, finished ? draft.maxTokens() - generated + 1 : 1);
    }
  }
}
