package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A prompt, the caches that read it, and the drafts that continue it in each cache. The prompt is
 * read once for all drafts of a cache, and once for all caches that compute the same bits.
 */
final class PromptDrafts implements AutoCloseable {
  /** Prompt tokens of a step; the same as in a session, so that evaluation equals normal use. */
  static final int PREFILL_CHUNK = 256;

  private final List<Supplier<KvCache>> sources; // by row
  private final int[] ids;
  private final List<List<Draft>> drafts; // by row
  private final List<RowPrompt> opened = new ArrayList<>(); // by row, once open
  private boolean complete;

  /** A row's cache while it reads the prompt. */
  private static final class RowPrompt {
    private final KvCache cache;
    private final int past;
    private final RowPrompt leader; // the row whose prompt is copied; null if it reads
    private int drafts; // that have not started

    RowPrompt(KvCache cache, RowPrompt leader, int drafts) {
      this.cache = cache;
      this.past = cache.length();
      this.leader = leader;
      this.drafts = drafts;
    }

    int read() {
      return cache.length() - past;
    }
  }

  /**
   * @param sources open each row's cache with the tokens before the prompt
   * @param ids the prompt, at least one id
   * @param drafts the continuations by row, at least one each
   */
  PromptDrafts(List<Supplier<KvCache>> sources, int[] ids, List<List<Draft>> drafts) {
    this.sources = List.copyOf(sources);
    this.ids = ids;
    this.drafts = List.copyOf(drafts);
  }

  int draftCount() {
    return drafts.stream().mapToInt(List::size).sum();
  }

  /** Tokens to read; a decode step of each draft takes the last one. */
  private int tokens() {
    return ids.length - 1;
  }

  int lastId() {
    return ids[ids.length - 1];
  }

  boolean isComplete() {
    return complete;
  }

  /** Opens the caches. */
  void open(Prefill prefill) {
    for (int row = 0; row < sources.size(); row++) {
      KvCache cache = sources.get(row).get();
      opened.add(new RowPrompt(cache, leaderOf(cache, prefill), drafts.get(row).size()));
      if (prefill == Prefill.EXACT || cache.defersPrompts()) {
        cache.deferQuantization(true);
      }
    }
  }

  private RowPrompt leaderOf(KvCache cache, Prefill prefill) {
    return opened.stream()
        .filter(other -> other.leader == null)
        .filter(other -> SharedPrefill.isPossible(other.cache, cache, tokens(), prefill))
        .findFirst()
        .orElse(null);
  }

  /**
   * Adds the next chunk of each row that still reads, while it fits. At least one chunk is added to
   * an empty batch.
   *
   * @return the cost of what was added
   */
  double addTo(Batch batch, int maxRows) {
    double cost = 0;
    for (RowPrompt row : opened) {
      int left = row.leader == null ? tokens() - row.read() : 0;
      if (left > 0) {
        int count = Math.max(1, row.cache.stepCapacity(Math.min(PREFILL_CHUNK, left)));
        if (batch.rows() > 0 && batch.rows() + count > maxRows) {
          return cost;
        }
        cost += ProgressCounter.prefillCost(row.cache.length(), count);
        int from = row.read();
        for (int i = from; i < from + count; i++) {
          batch.add(row.cache, ids[i], false);
        }
      }
    }
    return cost;
  }

  /**
   * Copies the prompt to the other rows if it has been read, and quantizes it.
   *
   * @return the cost that copying saves
   */
  double complete(LoadedModel model, Prefill prefill) {
    if (complete || opened.stream().anyMatch(row -> row.leader == null && row.read() < tokens())) {
      return 0;
    }
    double saved = 0;
    for (RowPrompt row : opened) {
      if (row.leader != null) {
        SharedPrefill.copy(row.leader.cache, row.cache, ids, model.config().cacheShape());
        saved += ProgressCounter.prefillCost(0, tokens());
        endDeferral(row, prefill);
      }
    }
    opened.stream().filter(row -> row.leader == null).forEach(row -> endDeferral(row, prefill));
    complete = true;
    return saved;
  }

  private static void endDeferral(RowPrompt row, Prefill prefill) {
    if (prefill == Prefill.EXACT || row.cache.defersPrompts()) {
      row.cache.deferQuantization(false);
    }
  }

  /** Returns whether every draft has its cache. */
  boolean isTaken() {
    return complete && opened.stream().allMatch(row -> row.drafts == 0);
  }

  /** Returns the drafts in the order in which they start. */
  List<Start> starts() {
    List<Start> starts = new ArrayList<>();
    for (int i = 0; i < opened.size(); i++) {
      RowPrompt row = opened.get(i);
      drafts.get(i).forEach(draft -> starts.add(new Start(this, row, draft)));
    }
    return starts;
  }

  /** A draft whose prompt has been read. */
  static final class Start {
    private final PromptDrafts prompt;
    private final RowPrompt row;
    private final Draft draft;

    private Start(PromptDrafts prompt, RowPrompt row, Draft draft) {
      this.prompt = prompt;
      this.row = row;
      this.draft = draft;
    }

    Draft draft() {
      return draft;
    }

    int lastId() {
      return prompt.lastId();
    }

    /** Returns the draft's own cache: a fork, or for the last draft the cache itself. */
    KvCache take() {
      row.drafts--;
      return row.drafts == 0 ? row.cache : row.cache.fork();
    }
  }

  /** Closes the caches that no draft has taken. */
  @Override
  public void close() {
    for (RowPrompt row : opened) {
      if (row.drafts > 0) {
        row.cache.close();
      }
    }
  }
}
