package dev.kvasir.engine;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.KvCache;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.TextStream;
import java.util.Arrays;
import java.util.Set;

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
public final class Sequence {
  /**
   * Prompt tokens of a step: enough to make the weights' expansion cheap, few enough to report.
   * What a token sees depends on where steps end, so the number is the same for all.
   */
  public static final int PROMPT_STEP = 256;

  /** Where a generation stands; the loop's lock guards it. */
  enum State {
    READY,
    STEPPING,
    TELLING,
    DONE
  }

  private final KvCache cache;
  private final int contextLimit;
  private final boolean readsExactly;
  private final boolean isPackedByPosition;
  private final Set<Integer> endOfText;

  /** Every token of the text. The last one is not in the cache until the next step needs it. */
  private int[] tokens = new int[256];

  private int length;

  State state = State.DONE;
  private Request request;
  private int promptEnd;
  private int promptBegin;
  private int stepBegin; // of the step that is being read in parts
  private int stepEnd; // where none is, the length of the cache
  private int rows; // of the step at hand
  private int logitIndex;
  private int generated;
  private int picked; // the token that came last; -1 while the prompt is read
  private long promptDone;
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
  public record Request(Sampler sampler, TextStream stream, int maxTokens, Beginning beginning) {}

  /**
   * @param contextLimit tokens that the text may have
   * @param readsExactly whether a prompt is packed only when it has been read
   * @param endOfText tokens by which a model says that its text is over
   */
  public Sequence(KvCache cache, int contextLimit, boolean readsExactly, Set<Integer> endOfText) {
    this.cache = cache;
    this.contextLimit = contextLimit;
    this.readsExactly = readsExactly;
    this.isPackedByPosition = isPackedByPosition(cache, readsExactly);
    this.endOfText = endOfText;
  }

  /**
   * Whether what a token finds may depend on its position alone: a prompt's rows compute as single
   * ones do, and nothing but a length says when to pack. Then all tokens, read or generated, are
   * packed at multiples of {@link #PROMPT_STEP}, and a text may be gone on with from any place.
   *
   * @param readsExactly whether a prompt is packed only when it has been read
   */
  public static boolean isPackedByPosition(KvCache cache, boolean readsExactly) {
    return !readsExactly
        && cache.readsPromptsAsStored()
        && !cache.seesQueries()
        && cache.receivingQueries() == 0
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
  public void keep(int count) {
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
  void begin(Request wanted, boolean stopped) {
    request = wanted;
    finish = stopped ? Finish.STOPPED : null;
    failure = null;
    picked = -1;
    generated = 0;
    text.setLength(0);
    // With nothing new to read, the last token is read again for its logits: a rewind that every
    // cache can do which has not been cut before.
    if (cache.length() == length) {
      cache.truncate(length - 1);
    }
    promptBegin = cache.length();
    promptEnd = length;
    stepBegin = promptBegin;
    stepEnd = promptBegin;
    if (readsExactly) {
      cache.holdSealing(true);
    }
  }

  /**
   * Adds its next rows to a batch, up to {@code room} of them; answers how many. Of a prompt, a
   * part of a step at the most.
   */
  int addTo(Batch batch, int room) {
    rows = 0;
    try {
      rows = Math.min(room, unreadOfStep());
      if (rows > 0) {
        addRows(batch);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
    return rows;
  }

  private int unreadOfStep() {
    if (cache.length() == stepEnd) {
      stepBegin = readsPrompt() && isPackedByPosition ? wholeSteps(stepEnd) : stepEnd;
      stepEnd += readsPrompt() ? promptStep(length - stepEnd) : 1;
    }
    return stepEnd - cache.length();
  }

  private static int wholeSteps(int position) {
    return position - position % PROMPT_STEP;
  }

  /** A cache that cannot take even one token refuses it when it comes. */
  private int promptStep(int unread) {
    int most = PROMPT_STEP - (stepEnd - stepBegin);
    return Math.max(1, cache.stepOf(Math.min(most, unread)));
  }

  /** Whether it has a prompt to read, in however many parts. */
  boolean readsPrompt() {
    return picked < 0;
  }

  /** Whether there was no room for any of its rows. */
  boolean isLeftOut() {
    return rows == 0 && failure == null && finish == null;
  }

  private void addRows(Batch batch) {
    int from = cache.length();
    batch.beginPart(cache, stepBegin, stepEnd);
    for (int i = from; i < from + rows; i++) {
      logitIndex = batch.add(cache, tokens[i], i == length - 1);
    }
    if (logitIndex >= 0 && request.sampler().takesLikeliest()) {
      batch.letLikeliestSuffice(logitIndex);
    }
  }

  /** Takes what came of its rows: the next token, where they were the last ones. */
  void take(Batch batch) {
    try {
      RuntimeException why = rows == 0 ? null : batch.failureOrNull(cache);
      if (why != null) {
        fail(why);
      } else if (rows > 0 && cache.length() == length) {
        pick(batch);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void pick(Batch batch) {
    if (picked < 0) {
      promptDone = System.nanoTime();
    }
    int likeliest = batch.likeliest(logitIndex);
    picked =
        likeliest >= 0
            ? request.sampler().pickLikeliest(likeliest)
            : request
                .sampler()
                .pick(batch.logits(), batch.logitsAt(logitIndex), batch.vocabulary());
    append(picked);
    generated++;
  }

  /** Text that was begun ends where its budget does; a prompt that does not fit is refused. */
  void fail(Throwable why) {
    if (why instanceof CacheFullException && picked >= 0) {
      finish = Finish.CACHE_FULL;
    } else {
      failure = why;
    }
  }

  /** Tells the listener what has come, and says whether the generation goes on. */
  boolean tell(SequenceListener listener) {
    if (failure != null) {
      return false;
    }
    if (picked < 0 || generated == 1 && finish == null) {
      listener.prompt(Math.min(cache.length(), promptEnd) - promptBegin, promptEnd - promptBegin);
    }
    if (finish == null) {
      finish = picked < 0 ? stopsReading(listener) : tellToken(listener);
    }
    return finish == null;
  }

  /** Whether {@link #pack} will take its time. */
  boolean mustPack() {
    boolean isLetGo = readsExactly && generated == 1;
    return cache.length() == stepEnd && (isLetGo || mayPack() && cache.mustSettle());
  }

  /** Whether its last step was one of the prompt. */
  boolean hasReadStep() {
    return stepEnd <= promptEnd;
  }

  private boolean mayPack() {
    return !isPackedByPosition || cache.length() == wholeSteps(cache.length());
  }

  /** Packs what has left the window. */
  void pack() {
    if (cache.length() == stepEnd) {
      settle();
      leaveBeginning();
    }
  }

  private void leaveBeginning() {
    Beginning beginning = request.beginning();
    if (beginning == null || !hasReadStep()) {
      return;
    }
    if (stepEnd - stepBegin == PROMPT_STEP && stepEnd == wholeSteps(stepEnd)) {
      beginning.stepRead(stepEnd, !isPackedByPosition);
    }
    if (isPackedByPosition && stepEnd == promptEnd) {
      beginning.leave(tokens, stepEnd);
    }
  }

  private static Finish stopsReading(SequenceListener listener) {
    return listener.stopped() ? Finish.STOPPED : null;
  }

  private Finish tellToken(SequenceListener listener) {
    if (endOfText.contains(picked)) {
      return Finish.END_OF_TEXT;
    }
    if (request.sampler().tellsLikelihoods()) {
      listener.likelihood(request.sampler().likelihood());
    }
    tell(request.stream().push(picked), listener);
    if (listener.stopped()) {
      return Finish.STOPPED;
    }
    if (length >= contextLimit) {
      return Finish.CONTEXT_FULL;
    }
    if (length > cache.capacity()) {
      return Finish.CACHE_FULL;
    }
    return generated == request.maxTokens() ? Finish.MAX_TOKENS : null;
  }

  private void tell(String piece, SequenceListener listener) {
    if (!piece.isEmpty()) {
      text.append(piece);
      listener.text(piece);
    }
  }

  private void settle() {
    if (readsExactly && picked >= 0 && generated == 1) {
      cache.holdSealing(false);
    } else if (mayPack()) {
      cache.settle();
    }
  }

  /** Tells what was held back of the text: half a character, at the most. */
  void tellRest(SequenceListener listener) {
    if (picked >= 0) {
      tell(request.stream().finish(), listener);
    }
  }

  /**
   * Leaves the cache to be used again, whatever became of the generation. A step that was not read
   * to its end is forgotten: where steps end must not depend on when it was broken off.
   */
  void end() {
    if (isPackedByPosition) {
      settle();
      leaveEnd();
      return;
    }
    if (cache.length() < stepEnd && cache.length() > stepBegin) {
      cache.truncate(stepBegin);
    }
    if (readsExactly) {
      cache.holdSealing(false);
    } else {
      cache.settle();
    }
  }

  /** The next turn of a conversation goes on from here. */
  private void leaveEnd() {
    if (request.beginning() != null && failure == null && generated > 0) {
      request.beginning().leave(tokens, cache.length());
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
