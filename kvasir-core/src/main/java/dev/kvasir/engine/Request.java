package dev.kvasir.engine;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.KvCache;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.TextStream;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.locks.Condition;

/**
 * One text in the making: its tokens, what an engine remembers of them, and, while it is generated,
 * how the next token is picked and turned into text.
 *
 * <p>A generation goes through the hands of two threads, never of both at a time: the one that runs
 * a step adds the sequence's rows and takes what came of them; the one that asked for the
 * generation then tells the listener and packs ({@link #tell}, {@link #pack}), so that neither
 * delays the steps of others.
 *
 * <pre>
 * begin -> READY -> in a step -> TELLING -> READY -> ... -> DONE
 * </pre>
 */
public final class Request {
  /**
   * Prompt tokens of a step: enough to make the weights' expansion cheap, few enough to report.
   * What a token sees depends on where steps end, so the number is the same for all.
   */
  public static final int PREFILL_STEP = 256;

  /** How long a prompt's listener is told nothing, nor asked whether to stop, at the most. */
  private static final long MAX_REPORT_INTERVAL_NANOS = 100_000_000;

  /** Where a generation stands; the loop's lock guards it. */
  enum State {
    READY,
    STEPPING,
    REPORTING,
    DONE
  }

  private final KvCache cache;
  private final int contextLimit;
  private final boolean defersQuantization;
  private final boolean quantizesByPosition;
  private final Set<Integer> endOfText;

  /** Every token of the text. The last one is not in the cache until the next step needs it. */
  private int[] tokens = new int[256];

  private int length;

  State state = State.DONE;
  Condition wakeUp; // when there is something to tell, or it is its thread's turn to run a step
  boolean quantizes; // before it is ready again, which takes its time
  boolean isWaiting; // whether its thread waits for that; the loop's lock guards it
  private GenerationParams params;
  private int promptEnd;
  private int promptBegin;
  private int stepBegin; // of the step that is being read in parts
  private int stepEnd; // where none is, the length of the cache
  private int rows; // of the step at hand
  private int logitIndex;
  private int generated;
  private int lastToken; // the token that came last; -1 while the prompt is read
  private long promptDone;
  private long lastReport; // when the listener was
  private Finish finish; // null until it is known
  private Throwable failure;
  private final StringBuilder text = new StringBuilder();

  /**
   * What a generation is asked to do.
   *
   * @param maxTokens generated tokens at the most
   * @param beginning told of the prompt's steps; null where the text is not read from its first
   *     token, or nobody else shall go on from it
   */
  public record GenerationParams(
      Sampler sampler, TextStream stream, int maxTokens, Prefix prefix) {}

  /**
   * @param contextLimit tokens that the text may have
   * @param readsExactly whether a prompt is packed only when it has been read
   * @param endOfText tokens by which a model says that its text is over
   */
  public Request(
      KvCache cache, int contextLimit, boolean defersQuantization, Set<Integer> endOfText) {
    this.cache = cache;
    this.contextLimit = contextLimit;
    this.defersQuantization = defersQuantization;
    this.quantizesByPosition = quantizesByPosition(cache, defersQuantization);
    this.endOfText = endOfText;
  }

  /**
   * Whether what a token finds may depend on its position alone: a prompt's rows compute as single
   * ones do, and nothing but a length says when to pack. Then all tokens, read or generated, are
   * packed at multiples of {@link #PROMPT_STEP}, and a text may be gone on with from any place.
   *
   * @param readsExactly whether a prompt is packed only when it has been read
   */
  public static boolean quantizesByPosition(KvCache cache, boolean defersQuantization) {
    return !defersQuantization
        && cache.prefillsOnStoredPages()
        && !cache.observesQueries()
        && cache.attentionHorizon() == 0
        && cache.capacity() == Integer.MAX_VALUE;
  }

  public KvCache cache() {
    return cache;
  }

  /** Tokens of the text so far. */
  public int length() {
    return length;
  }

  public int token(int index) {
    return tokens[index];
  }

  /** The tokens that the text has in common with others from its beginning. */
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
   * Forgets all but the first {@code count} tokens. Those that the cache cannot keep are read again
   * with whatever follows them.
   */
  public void truncate(int count) {
    if (cache.length() > count) {
      cache.truncate(count); // which may refuse what it holds
    }
    length = count;
  }

  /**
   * Begins a generation after the text so far, of which at least one token must be there.
   *
   * @param stopped to read nothing at all
   */
  void begin(GenerationParams newParams, boolean stopped) {
    params = newParams;
    finish = stopped ? Finish.STOPPED : null;
    failure = null;
    lastToken = -1;
    generated = 0;
    text.setLength(0);
    lastReport = System.nanoTime();
    // With nothing new to read, the last token is read again for its logits: a rewind that every
    // cache can do which has not been cut before.
    if (cache.length() == length) {
      cache.truncate(length - 1);
    }
    promptBegin = cache.length();
    promptEnd = length;
    stepBegin = promptBegin;
    stepEnd = promptBegin;
    if (defersQuantization) {
      cache.deferQuantization(true);
    }
  }

  /**
   * Adds its next rows to a batch, up to {@code room} of them; answers how many. Of a prompt, a
   * part of a step at the most.
   */
  int addTo(Batch batch, int maxRows) {
    rows = 0;
    try {
      rows = Math.min(maxRows, remainingOfStep());
      if (rows > 0) {
        addRows(batch);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
    return rows;
  }

  private int remainingOfStep() {
    if (cache.length() == stepEnd) {
      stepBegin = isPrefilling() && quantizesByPosition ? wholeSteps(stepEnd) : stepEnd;
      stepEnd += isPrefilling() ? promptStep(length - stepEnd) : 1;
    }
    return stepEnd - cache.length();
  }

  private static int wholeSteps(int position) {
    return position - position % PREFILL_STEP;
  }

  /** A cache that cannot take even one token refuses it when it comes. */
  private int promptStep(int unread) {
    int most = PREFILL_STEP - (stepEnd - stepBegin);
    return Math.max(1, cache.stepCapacity(Math.min(most, unread)));
  }

  /** Whether it has a prompt to read, in however many parts. */
  boolean isPrefilling() {
    return lastToken < 0;
  }

  /** Whether there was no room for any of its rows. */
  boolean isLeftOut() {
    return rows == 0 && failure == null && finish == null;
  }

  private void addRows(Batch batch) {
    int from = cache.length();
    batch.beginChunk(cache, stepBegin, stepEnd);
    for (int i = from; i < from + rows; i++) {
      logitIndex = batch.add(cache, tokens[i], i == length - 1);
    }
    if (logitIndex >= 0 && params.sampler().isGreedy()) {
      batch.requestArgmaxOnly(logitIndex);
    }
  }

  /** Takes what came of its rows: the next token, where they were the last ones. */
  void collect(Batch batch) {
    try {
      RuntimeException why = rows == 0 ? null : batch.failureOrNull(cache);
      if (why != null) {
        fail(why);
      } else if (rows > 0 && cache.length() == length) {
        sample(batch);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void sample(Batch batch) {
    if (lastToken < 0) {
      promptDone = System.nanoTime();
    }
    int likeliest = batch.argmax(logitIndex);
    lastToken =
        likeliest >= 0
            ? params.sampler().sampleGreedy(likeliest)
            : params
                .sampler()
                .sample(batch.logits(), batch.logitsAt(logitIndex), batch.vocabulary());
    append(lastToken);
    generated++;
  }

  /** Text that was begun ends where its budget does; a prompt that does not fit is refused. */
  void fail(Throwable why) {
    if (why instanceof CacheFullException && lastToken >= 0) {
      finish = Finish.CACHE_FULL;
    } else {
      failure = why;
    }
  }

  /**
   * Whether it goes on to read its prompt as it is: there are parts of a few tokens, and to tell of
   * each would take longer than to read them.
   */
  boolean continuesSilently(long now) {
    return lastToken < 0
        && failure == null
        && finish == null
        && cache.length() < stepEnd
        && now - lastReport < MAX_REPORT_INTERVAL_NANOS;
  }

  /** Tells the listener what has come, and says whether the generation goes on. */
  boolean report(RequestListener listener) {
    if (failure != null) {
      return false;
    }
    lastReport = System.nanoTime();
    if (lastToken < 0 || generated == 1 && finish == null) {
      listener.promptProgress(
          Math.min(cache.length(), promptEnd) - promptBegin, promptEnd - promptBegin);
    }
    if (finish == null) {
      finish = lastToken < 0 ? checkStopped(listener) : reportToken(listener);
    }
    return finish == null;
  }

  /** Whether {@link #pack} will take its time. */
  boolean mustQuantize() {
    boolean endsDeferral = defersQuantization && generated == 1;
    return cache.length() == stepEnd && (endsDeferral || mayQuantize() && cache.mustQuantize());
  }

  /** Whether its last step was one of the prompt. */
  boolean endedPrefillStep() {
    return stepEnd <= promptEnd;
  }

  private boolean mayQuantize() {
    return !quantizesByPosition || cache.length() == wholeSteps(cache.length());
  }

  /** Packs what has left the window. */
  void quantize() {
    if (cache.length() == stepEnd) {
      quantizeWindow();
      recordPrefix();
    }
  }

  private void recordPrefix() {
    Prefix prefix = params.prefix();
    if (prefix == null || !endedPrefillStep()) {
      return;
    }
    if (stepEnd - stepBegin == PREFILL_STEP && stepEnd == wholeSteps(stepEnd)) {
      prefix.prefillStepDone(stepEnd, !quantizesByPosition);
    }
    if (quantizesByPosition && stepEnd == promptEnd) {
      prefix.record(tokens, stepEnd);
    }
  }

  private static Finish checkStopped(RequestListener listener) {
    return listener.stopped() ? Finish.STOPPED : null;
  }

  private Finish reportToken(RequestListener listener) {
    if (endOfText.contains(lastToken)) {
      return Finish.END_OF_TEXT;
    }
    if (params.sampler().recordsLogprobs()) {
      listener.likelihood(params.sampler().lastLogprob());
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

  private void report(String piece, RequestListener listener) {
    if (!piece.isEmpty()) {
      text.append(piece);
      listener.text(piece);
    }
  }

  private void quantizeWindow() {
    if (defersQuantization && lastToken >= 0 && generated == 1) {
      cache.deferQuantization(false);
    } else if (mayQuantize()) {
      cache.quantizeWindow();
    }
  }

  /** Tells what was held back of the text: half a character, at the most. */
  void reportRest(RequestListener listener) {
    if (lastToken >= 0) {
      report(params.stream().finish(), listener);
    }
  }

  /**
   * Leaves the cache to be used again, whatever became of the generation. A step that was not read
   * to its end is forgotten: where steps end must not depend on when it was broken off.
   */
  void end() {
    if (quantizesByPosition) {
      quantizeWindow();
      recordEnd();
      return;
    }
    if (cache.length() < stepEnd && cache.length() > stepBegin) {
      cache.truncate(stepBegin);
    }
    if (defersQuantization) {
      cache.deferQuantization(false);
    } else {
      cache.quantizeWindow();
    }
  }

  /** The next turn of a conversation goes on from here. */
  private void recordEnd() {
    if (params.prefix() != null && failure == null && generated > 0) {
      params.prefix().record(tokens, cache.length());
    }
  }

  /** What made the generation end early; null where nothing did. */
  Throwable failure() {
    return failure;
  }

  /** Why the last generation ended. */
  public Finish finish() {
    return finish;
  }

  /** The text of the last generation. */
  public String text() {
    return text.toString();
  }

  /** Tokens of the last generation. */
  public int generated() {
    return generated;
  }

  /** When the last generation's prompt had been read, by {@link System#nanoTime}. */
  public long promptDone() {
    return promptDone;
  }
}
