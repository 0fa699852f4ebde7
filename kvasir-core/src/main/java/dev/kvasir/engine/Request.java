package dev.kvasir.engine;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.GenerationListener;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.KvCache.Checkpoint;
import dev.kvasir.memory.DamagedFileException;
import dev.kvasir.memory.ProtectedMappings;
import java.util.Arrays;
import java.util.Set;

/**
 * One text being processed: its tokens, its KV cache and, while it is generated, the sampling and
 * decoding of the next token.
 *
 * <p>Two threads handle a generation in turn. The one that runs a step adds the request's rows and
 * collects their results. The one that started the generation then notifies the listener and
 * quantizes ({@link #report}, {@link #quantize}), so that neither delays the steps of others.
 */
public final class Request {
  /**
   * Prompt tokens of a prefill step: enough to amortize the expansion of weights, few enough to
   * report progress. Results depend on where steps end, so the number is the same for all.
   */
  public static final int PREFILL_STEP = 256;

  /** Maximum time during prefill without a call of the listener. */
  private static final long MAX_REPORT_INTERVAL_NANOS = 100_000_000;

  private final KvCache cache;
  private final int contextLimit;
  private final boolean defersQuantization;
  private final boolean quantizesByPosition;
  private final Set<Integer> endOfText;
  private final Speculation speculation;
  private final StepRange step;
  private final StateRows stateRows = new StateRows();
  private final long mappingFaults = ProtectedMappings.faults(); // before its first step

  /** Every token of the text. The last one is not cached until the next step needs it. */
  private int[] tokens = new int[256];

  private int length;

  private GenerationParams params;
  private int rows; // of the current step
  private int logitIndex;
  private int generated;
  private int lastToken; // -1 during prefill
  private boolean repeatsStep; // without the draft that made it fail
  private long promptDone;
  private long lastReport; // time of the last listener call
  private Finish finish; // null until it is known
  private Throwable failure;
  private final StringBuilder text = new StringBuilder();

  /**
   * @param contextLimit maximum tokens of the text
   * @param defersQuantization whether a prompt is quantized only after its prefill
   * @param endOfText end-of-text tokens of the model
   * @param drafter proposes tokens to verify several in one step; null for none
   */
  public Request(
      KvCache cache,
      int contextLimit,
      boolean defersQuantization,
      Set<Integer> endOfText,
      Drafter drafter) {
    this.cache = cache;
    this.contextLimit = contextLimit;
    this.defersQuantization = defersQuantization;
    this.quantizesByPosition = quantizesByPosition(cache, defersQuantization);
    this.endOfText = endOfText;
    this.speculation = new Speculation(drafter);
    this.step = new StepRange(cache, quantizesByPosition);
  }

  /**
   * Returns whether results may depend on positions alone: prompt rows compute like single ones,
   * and only the length decides when to quantize. All tokens are then quantized at multiples of
   * {@link #PREFILL_STEP}, and a text may be continued from any position.
   *
   * @param defersQuantization whether a prompt is quantized only after its prefill
   */
  public static boolean quantizesByPosition(KvCache cache, boolean defersQuantization) {
    return !defersQuantization
        && cache.prefillsOnStoredPages()
        && !cache.dependsOnAttention()
        && cache.capacity() == Integer.MAX_VALUE;
  }

  public KvCache cache() {
    return cache;
  }

  public int length() {
    return length;
  }

  public int token(int index) {
    return tokens[index];
  }

  /** Returns the length of the common prefix with other tokens. */
  public int commonPrefix(int[] others) {
    int mismatch = Arrays.mismatch(others, 0, others.length, tokens, 0, length);
    return mismatch < 0 ? length : mismatch;
  }

  public void append(int token) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * length);
    }
    tokens[length++] = token;
  }

  /**
   * Drops all but the first {@code count} tokens. Tokens that the cache cannot retain are prefilled
   * again with the next ones.
   */
  public void truncate(int count) {
    if (cache.length() > count) {
      cache.truncate(count); // may reject damaged contents
    }
    length = count;
  }

  /**
   * Starts a generation after the text so far, which must have at least one token.
   *
   * @param stopped whether to stop before any prefill
   */
  void begin(GenerationParams newParams, boolean stopped) {
    params = newParams;
    finish = stopped ? Finish.STOPPED : null;
    failure = null;
    lastToken = -1;
    generated = 0;
    text.setLength(0);
    lastReport = System.nanoTime();
    // Without new tokens, the last one is computed again for its logits. Every cache that has not
    // been truncated before supports this rewind.
    if (cache.length() == length) {
      cache.truncate(length - 1);
    }
    cache.checkpoint(Checkpoint.TURN);
    step.beginPrompt(length);
    repeatsStep = false;
    speculation.begin(tokens, length);
    if (defersQuantization) {
      cache.deferQuantization(true);
    }
  }

  /**
   * Adds up to {@code maxRows} of its next rows to a batch and returns their number. During prefill
   * that is at most the rest of a step; otherwise a token and its draft.
   */
  int addTo(Batch batch, int maxRows) {
    rows = 0;
    repeatsStep = false;
    try {
      rows = Math.min(maxRows, step.remaining(isPrefilling() ? length - cache.length() : 0));
      speculation.limit(maxRows - 1);
      if (rows > 0) {
        addRows(batch);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
    return rows;
  }

  /** Returns whether prompt tokens remain. */
  boolean isPrefilling() {
    return lastToken < 0;
  }

  /** Returns whether the batch had no capacity for any of its rows. */
  boolean isLeftOut() {
    return rows == 0 && failure == null && finish == null;
  }

  private void addRows(Batch batch) {
    if (speculation.drafted() > 0) {
      logitIndex = speculation.addTo(batch, cache, tokens[length - 1], params.sampler().isGreedy());
      rows = 1 + speculation.drafted();
      return;
    }
    int from = cache.length();
    if (isPrefilling()) {
      batch.beginChunk(cache, step.begin(), step.end());
    }
    if (params.states() != null) {
      stateRows.add(batch, cache, tokens, from, rows, params.states());
      return;
    }
    for (int i = from; i < from + rows; i++) {
      logitIndex = batch.add(cache, tokens[i], i == length - 1);
    }
    if (logitIndex >= 0 && params.sampler().isGreedy()) {
      batch.requestArgmaxOnly(logitIndex);
    }
  }

  /**
   * Collects the results of its rows: samples the next token if they were the last ones, and the
   * following ones while they are those of the draft.
   */
  void collect(Batch batch) {
    if (ProtectedMappings.faults() != mappingFaults) {
      // Keys and values that it shares with others may have been zeros.
      fail(
          new DamagedFileException(
              "a mapped file cannot be read any more; it was truncated or its disk failed"));
      return;
    }
    try {
      RuntimeException why = rows == 0 ? null : batch.failureOrNull(cache);
      if (why != null && speculation.drafted() > 0) {
        // A token that is not part of the text may be what failed.
        repeatsStep = true;
        endDraft();
      } else if (why != null) {
        fail(why);
      } else if (rows > 0) {
        if (speculation.drafted() > 0) {
          cache.commit(1);
        }
        if (params.states() != null) {
          stateRows.collect(batch, params.states());
          finish = cache.length() == length ? Finish.MAX_TOKENS : null;
        } else if (cache.length() == length) {
          sample(batch);
        }
      }
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void sample(Batch batch) {
    if (lastToken < 0) {
      promptDone = System.nanoTime();
    }
    lastToken = speculation.draw(batch, logitIndex, params.sampler(), endOfText);
    append(lastToken);
    generated++;
  }

  /**
   * Records a failure. A full cache ends a generation that has begun, and rejects a prompt that
   * does not fit.
   */
  void fail(Throwable why) {
    if (why instanceof CacheFullException && lastToken >= 0) {
      finish = Finish.CACHE_FULL;
    } else {
      failure = why;
    }
  }

  /**
   * Returns whether prefill continues without a report: reporting every small chunk would take
   * longer than computing it.
   */
  boolean continuesSilently(long now) {
    return repeatsStep
        || lastToken < 0
            && failure == null
            && finish == null
            && !step.isComplete()
            && now - lastReport < MAX_REPORT_INTERVAL_NANOS;
  }

  /** Notifies the listener and returns whether the generation continues. */
  boolean report(GenerationListener listener) {
    if (failure != null) {
      return false;
    }
    lastReport = System.nanoTime();
    if (lastToken < 0 || generated == 1 && finish == null) {
      listener.promptProgress(step.promptTokensRead(), step.promptTokens());
    }
    if (finish == null && lastToken >= 0) {
      finish = reportTokens(listener);
    } else if (finish == null && listener.stopped()) {
      finish = Finish.STOPPED;
    }
    return finish == null;
  }

  /**
   * Reports the tokens drawn in the last step, up to the one that ends the generation. Those after
   * the first were drawn from rows of a draft, which become part of the cache one by one.
   */
  private Finish reportTokens(GenerationListener listener) {
    Finish found = reportToken(0, listener);
    for (int i = 1; found == null && i < speculation.drawnCount(); i++) {
      cache.commit(1);
      lastToken = speculation.drawnToken(i);
      append(lastToken);
      generated++;
      speculation.countAccepted();
      found = reportToken(i, listener);
    }
    endDraft();
    step.endHere();
    return found;
  }

  private void endDraft() {
    if (speculation.drafted() > 0) {
      cache.endDraft();
      speculation.dropDraft();
    }
  }

  /** Drafts the tokens of the next step, for a request that continues. */
  void prepareDraft(StepCosts costs) {
    if (speculation.isOn() && !isPrefilling()) {
      speculation.prepare(tokens, length, maxDraft(), costs);
    }
  }

  /** Returns the most tokens of a draft that leave the text and the cache as they would be. */
  private int maxDraft() {
    int cached = cache.length();
    int quantization =
        quantizesByPosition
            ? StepRange.wholeSteps(cached) + PREFILL_STEP
            : cache.nextQuantization();
    int text = Math.min(contextLimit - 1, cache.capacity()) - length;
    int max = Math.min(text, params.maxTokens() - generated - 1);
    return Math.min(max, Math.min(cache.draftCapacity(), quantization - 1 - cached));
  }

  /** Returns whether {@link #quantize} has work to do. */
  boolean mustQuantize() {
    boolean endsDeferral = defersQuantization && generated == 1;
    int unreported = Math.max(0, speculation.drawnCount() - 1);
    if (speculation.drafted() > 0 && unreported > 0) {
      int end = cache.length() + unreported;
      return mayQuantizeAt(end) && cache.nextQuantization() <= end;
    }
    return step.isComplete()
        && (endsDeferral || mayQuantizeAt(cache.length()) && cache.mustQuantize());
  }

  /** Returns whether its last step was a prefill step. */
  boolean endedPrefillStep() {
    return step.isOfPrompt();
  }

  private boolean mayQuantizeAt(int position) {
    return !quantizesByPosition || position == StepRange.wholeSteps(position);
  }

  /** Quantizes the blocks that have left the residual window. */
  void quantize() {
    if (step.isComplete()) {
      quantizeWindow();
      checkpoint();
      recordPrefix();
    }
  }

  /**
   * Retains recurrent states where the text may be continued in another way: after its prompt, and
   * at the end of a step, from which an entry of the prefix cache or an interrupted prefill starts.
   */
  private void checkpoint() {
    if (step.endsPrompt()) {
      cache.checkpoint(Checkpoint.TURN);
    } else if (step.isOfPrompt() || step.isAtBoundary()) {
      cache.checkpoint(Checkpoint.STEP);
    }
  }

  private void recordPrefix() {
    Prefix prefix = params.prefix();
    if (prefix == null || !step.isOfPrompt()) {
      return;
    }
    if (step.isWhole()) {
      prefix.prefillStepDone(step.end(), !quantizesByPosition);
    }
    if (quantizesByPosition && step.endsPrompt()) {
      prefix.record(tokens, step.end());
    }
  }

  /**
   * @param index of the token among those drawn in the last step
   */
  private Finish reportToken(int index, GenerationListener listener) {
    if (endOfText.contains(lastToken)) {
      return Finish.END_OF_TEXT;
    }
    if (params.sampler().recordsLogprobs()) {
      listener.logprob(speculation.logprob(index));
    }
    report(params.stream().push(lastToken), listener);
    if (listener.stopped()) {
      return Finish.STOPPED;
    }
    if (length >= contextLimit) {
      return Finish.CONTEXT_FULL;
    }
    if (length > cache.capacity()) {
      return Finish.CACHE_FULL;
    }
    return generated == params.maxTokens() ? Finish.MAX_TOKENS : null;
  }

  private void report(String piece, GenerationListener listener) {
    if (!piece.isEmpty()) {
      text.append(piece);
      listener.text(piece);
    }
  }

  private void quantizeWindow() {
    if (defersQuantization && lastToken >= 0 && generated == 1) {
      cache.deferQuantization(false);
    } else if (mayQuantizeAt(cache.length())) {
      cache.quantizeWindow();
    }
  }

  /** Reports the rest of the text: at most an incomplete character. */
  void reportRest(GenerationListener listener) {
    if (lastToken >= 0) {
      report(params.stream().finish(), listener);
    }
  }

  /**
   * Leaves the cache reusable, however the generation ended. An incomplete step is dropped, since
   * step boundaries must not depend on when a generation is stopped.
   */
  void end() {
    endDraft();
    if (quantizesByPosition) {
      quantizeWindow();
      recordEnd();
      return;
    }
    step.dropIncomplete();
    if (defersQuantization) {
      cache.deferQuantization(false);
    } else {
      cache.quantizeWindow();
    }
  }

  /** Records the end of the text, where the next turn of a conversation continues. */
  private void recordEnd() {
    if (params.prefix() != null && failure == null && generated > 0) {
      params.prefix().record(tokens, cache.length());
    }
  }

  /** Returns what ended the generation early; null if nothing did. */
  Throwable failure() {
    return failure;
  }

  /** Returns why the last generation ended. */
  public Finish finish() {
    return finish;
  }

  /** Returns the text of the last generation. */
  public String text() {
    return text.toString();
  }

  /** Returns the tokens of the last generation. */
  public int generated() {
    return generated;
  }

  /** Returns what was drafted in the last generation. */
  public Generation.Drafts drafts() {
    return new Generation.Drafts(speculation.proposed(), speculation.accepted());
  }

  /** Returns the tokens drawn in the last step. */
  int drawnTokens() {
    return speculation.drawnCount();
  }

  /** Returns the {@link System#nanoTime} at which the last generation's prefill ended. */
  public long promptDone() {
    return promptDone;
  }
}
