package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.TextStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;

/**
 * Runs batches of sequences through the model, reports progress and supports cancellation between
 * steps. A sequence has the same bits in any batch.
 */
final class BatchRunner {
  /** Maximum number of sequences that are decoded together; they share each read of the weights. */
  static final int MAX_BATCH = 32;

  /** Rows of a step: all sequences that decode, and a chunk of a prompt. */
  private static final int MAX_ROWS = MAX_BATCH + PromptDrafts.PREFILL_CHUNK;

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
   * Prefills the ids before {@code to} of a prompt into caches that are empty. The prompt is
   * quantized during prefill or at its end, as the settings or the cache ask for. Caches that would
   * compute the same bits share one prefill.
   */
  void readPrompts(List<KvCache> caches, int[] prompt, int to) {
    List<KvCache> left = new ArrayList<>(caches);
    while (!left.isEmpty() && to > 0) {
      KvCache leader = left.removeFirst();
      List<KvCache> followers =
          left.stream()
              .filter(cache -> SharedPrefill.isPossible(leader, cache, to, prefill))
              .toList();
      left.removeAll(followers);
      defer(leader, true);
      readChunks(leader, prompt, to);
      for (KvCache follower : followers) {
        defer(follower, true);
        SharedPrefill.copy(leader, follower, prompt, model.config().cacheShape());
        defer(follower, false);
        progress.add(ProgressCounter.prefillCost(0, to));
      }
      defer(leader, false);
    }
  }

  private void defer(KvCache cache, boolean deferred) {
    if (prefill == Prefill.EXACT || cache.defersPrompts()) {
      cache.deferQuantization(deferred);
    }
  }

  private void readChunks(KvCache cache, int[] prompt, int to) {
    int count;
    for (int from = 0; from < to; from += count) {
      int most = Math.min(PromptDrafts.PREFILL_CHUNK, to - from);
      count = Math.max(1, cache.stepCapacity(most));
      double cost = ProgressCounter.prefillCost(cache.length(), count);
      batch.clear();
      for (int i = from; i < from + count; i++) {
        batch.add(cache, prompt[i], false);
      }
      model.forward(batch);
      progress.add(cost);
    }
  }

  /**
   * Reads prompts and continues them. As soon as a draft ends, the next one takes its place, so
   * that at most {@link #MAX_BATCH} sequences and the prompts they continue are in memory.
   */
  void generate(List<PromptDrafts> prompts) {
    try (Generation generation = new Generation(prompts)) {
      while (generation.hasNext()) {
        generation.step();
      }
    }
  }

  /** The sequences of a generation. */
  private final class Generation implements AutoCloseable {
    private final Deque<PromptDrafts> waiting;
    private final List<PromptDrafts> opened = new ArrayList<>(); // some drafts have not started
    private final List<PromptDrafts> reading = new ArrayList<>();
    private final Deque<PromptDrafts.Start> ready = new ArrayDeque<>();
    private final List<ActiveDraft> active = new ArrayList<>();

    Generation(List<PromptDrafts> prompts) {
      waiting = new ArrayDeque<>(prompts);
    }

    boolean hasNext() {
      return !(waiting.isEmpty() && reading.isEmpty() && ready.isEmpty() && active.isEmpty());
    }

    void step() {
      admit();
      batch.clear();
      active.forEach(entry -> batch.add(entry.cache, entry.next, true));
      double cost = 0;
      for (PromptDrafts prompt : reading) {
        cost += prompt.addTo(batch, MAX_ROWS);
      }
      if (batch.rows() > 0) {
        model.forward(batch);
      }
      for (int i = 0; i < active.size(); i++) {
        cost += active.get(i).take(batch, i);
      }
      active.removeIf(entry -> entry.finished);
      for (PromptDrafts prompt : reading) {
        cost += prompt.complete(model, prefill);
        if (prompt.isComplete()) {
          ready.addAll(prompt.starts());
        }
      }
      reading.removeIf(PromptDrafts::isComplete);
      progress.add(cost);
    }

    /** Starts drafts whose prompts have been read, and opens prompts for the places left. */
    private void admit() {
      while (active.size() < MAX_BATCH && !ready.isEmpty()) {
        active.add(new ActiveDraft(ready.remove()));
      }
      int coming = ready.size() + reading.stream().mapToInt(PromptDrafts::draftCount).sum();
      while (active.size() + coming < MAX_BATCH && !waiting.isEmpty()) {
        PromptDrafts prompt = waiting.remove();
        coming += prompt.draftCount();
        opened.removeIf(PromptDrafts::isTaken);
        opened.add(prompt);
        reading.add(prompt);
        prompt.open(prefill);
      }
    }

    @Override
    public void close() {
      active.forEach(entry -> entry.cache.close());
      opened.forEach(PromptDrafts::close);
    }
  }

  /** A draft that is being decoded. */
  private final class ActiveDraft {
    private final Draft draft;
    private final KvCache cache;
    private final TextStream stream = model.tokenizer().stream(true);
    private int next;
    private int generated;
    private boolean finished;

    ActiveDraft(PromptDrafts.Start start) {
      this.draft = start.draft();
      this.next = start.lastId();
      this.cache = start.take();
    }

    /**
     * Appends a token, closes the cache after the last one, and returns the cost that this has used
     * up, including the cost saved by an early end.
     */
    double take(Batch step, int index) {
      int past = cache.length();
      next = draft.choose(step.logits(), step.logitsAt(index), step.vocabulary());
      generated++;
      boolean over = endOfText.contains(next);
      boolean enough = !over && draft.append(stream.push(next));
      if (over || enough || generated == draft.maxTokens()) {
        finished = true;
        draft.append(stream.finish());
        cache.close();
      }
      return ProgressCounter.decodeCost(past, finished ? draft.maxTokens() - generated + 1 : 1);
    }
  }
}
