package dev.kvasir.engine;

import dev.kvasir.GenerationListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Generates for any number of requests at once (continuous batching). Each step has a row of every
 * decoding request and some tokens of prompts in prefill. Requests join and leave between steps.
 *
 * <p>The scheduler has no thread of its own. Of the threads that wait for a generation, one at a
 * time runs a step for all. Then each notifies its own listener and quantizes its own pages while
 * others run the next step. Only threads with work are woken, since on few processors idle checks
 * would slow the step. A request's result does not depend on the other requests of its steps.
 */
public final class Scheduler {
  /** Minimum delay of a step for requests whose listeners are about to return. */
  private static final long MIN_WAIT_NANOS = 50_000;

  /** Maximum delay as a share of the last step's time; without it they would miss a whole step. */
  private static final double MAX_WAIT_SHARE = 0.15;

  /**
   * The same where no decoding request is ready. A step without them would delay them by more: it
   * reads all weights for some rows of a prompt.
   */
  private static final double MAX_WAIT_SHARE_FOR_FIRST = 1;

  /** Maximum delay of prompts, in steps, while decoding requests quantize. */
  private static final int MAX_QUANTIZATION_STEPS = 2;

  /** Maximum rows of drafts in a step, since each has as many logits as the vocabulary. */
  private static final int MAX_DRAFT_ROWS = 48;

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  private final Engine engine;
  private final Batch batch = new Batch();
  private final PrefillBudget prefillBudget = new PrefillBudget();
  private final JitWarmup jitWarmup = new JitWarmup();
  private final StepCosts stepCosts = new StepCosts();
  private final List<Slot> scheduled = new ArrayList<>(); // in the current step

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition quantized = lock.newCondition(); // signalled by decoding requests
  private final List<Slot> running = new ArrayList<>(); // in order of arrival
  private boolean isStepping; // whether a thread runs a step
  private int decoding; // requests that wait for a token or report one
  private int decodingRows; // their rows in the current step
  private boolean waitedInVain; // for a decoding request to be ready
  private long stepNanos; // of the last step
  private int quantizing; // requests that quantize before they are ready
  private int decodersQuantizing; // those of them that decode
  private long lateNanos; // their longest quantization since the last step
  private volatile int reporting; // decoding requests in a listener call
  private volatile StepListener stepListener = StepListener.NONE;

  private enum State {
    READY,
    STEPPING,
    REPORTING,
    DONE
  }

  /**
   * A running request and its state, guarded by the lock.
   *
   * <pre>
   * READY -> STEPPING -> REPORTING -> READY -> ... -> DONE
   * </pre>
   */
  private static final class Slot {
    final Request request;
    final Condition wakeUp; // signalled to report, or to run a step on its thread
    State state = State.READY;
    boolean quantizes; // whether it quantizes before it is ready again
    boolean isWaiting; // whether its thread waits for wakeUp

    Slot(Request request, Condition wakeUp) {
      this.request = request;
      this.wakeUp = wakeUp;
    }

    boolean isPrefilling() {
      return request.isPrefilling();
    }
  }

  public Scheduler(Engine engine) {
    this.engine = engine;
  }

  /** Sets the listener of steps; the last one set counts. */
  public void stepListener(StepListener listener) {
    stepListener = listener;
  }

  /**
   * Generates after a request's text until the generation ends, together with other requests. The
   * listener is called on this thread.
   *
   * @throws RuntimeException if the generation fails; the request may be used again
   */
  public void run(Request request, GenerationParams params, GenerationListener listener) {
    request.begin(params, listener.stopped());
    try {
      generate(request, listener);
    } catch (RuntimeException | Error e) {
      endAfter(e, request);
      throw e;
    }
    request.end();
  }

  private void generate(Request request, GenerationListener listener) {
    if (request.finish() == null) {
      Slot slot = admit(request);
      try {
        do {
          awaitToken(slot);
        } while (reportAndContinue(slot, listener));
      } finally {
        retire(slot);
      }
    }
    rethrow(request.failure());
    request.reportRest(listener);
  }

  /** Ends a request without hiding the failure. */
  private static void endAfter(Throwable failure, Request request) {
    try {
      request.end();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private Slot admit(Request request) {
    lock.lock();
    try {
      Slot slot = new Slot(request, lock.newCondition());
      running.add(slot);
      return slot;
    } finally {
      lock.unlock();
    }
  }

  private void retire(Slot slot) {
    lock.lock();
    try {
      move(slot, State.DONE);
      running.remove(slot);
      quantized.signal(); // it will not quantize any more
    } finally {
      lock.unlock();
    }
  }

  /** Changes the state of a request; the only method that does. The caller holds the lock. */
  private void move(Slot slot, State state) {
    int change = (state == State.REPORTING ? 1 : 0) - (slot.state == State.REPORTING ? 1 : 0);
    quantizing += slot.quantizes ? change : 0;
    if (!slot.isPrefilling()) {
      reporting += change;
      decodersQuantizing += slot.quantizes ? change : 0;
    }
    slot.state = state;
  }

  /** Reports the results; a request that continues is quantized and ready for the next step. */
  private boolean reportAndContinue(Slot slot, GenerationListener listener) {
    boolean continues = slot.request.report(listener);
    if (continues) {
      long quantizeNanos = quantize(slot);
      slot.request.prepareDraft(stepCosts);
      lock.lock();
      try {
        move(slot, State.READY);
        if (slot.quantizes && !slot.isPrefilling()) {
          lateNanos = Math.max(lateNanos, quantizeNanos);
          quantized.signal();
        }
      } finally {
        lock.unlock();
      }
    }
    return continues;
  }

  private long quantize(Slot slot) {
    QuantizationEvent event = slot.quantizes ? QuantizationEvent.beginIfRecorded() : null;
    long begin = System.nanoTime();
    slot.request.quantize();
    long end = System.nanoTime();
    if (event != null) {
      event.end(slot.request);
    }
    if (slot.quantizes) {
      stepListener.quantized(begin, end, slot.request.endedPrefillStep());
    }
    return end - begin;
  }

  /** Runs steps, or lets others run them, until the request has something to report. */
  private void awaitToken(Slot slot) {
    while (mustStep(slot)) {
      try {
        step();
      } finally {
        handOver(slot);
      }
    }
  }

  /**
   * Waits until the request has something to report, or this thread must run a step. Only the
   * listener can stop a generation; an interrupt is left to the caller.
   */
  private boolean mustStep(Slot slot) {
    lock.lock();
    try {
      while (slot.state != State.REPORTING && isStepping) {
        slot.isWaiting = true;
        slot.wakeUp.awaitUninterruptibly();
        slot.isWaiting = false;
      }
      if (slot.state == State.REPORTING) {
        return false;
      }
      isStepping = true;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends this thread's turn. If it has something to report, it wakes another thread for the next
   * step, preferably one in prefill: that one reports little and can run many steps in a row.
   * Threads that are not waiting now will check for a turn on their own.
   */
  private void handOver(Slot from) {
    lock.lock();
    try {
      isStepping = false;
      Slot next = null;
      for (int i = 0; i < running.size() && from.state == State.REPORTING; i++) {
        Slot one = running.get(i);
        if (one.isWaiting && one.state == State.READY && (next == null || one.isPrefilling())) {
          next = one;
        }
      }
      if (next != null) {
        next.wakeUp.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  private void step() {
    gather();
    try {
      fillBatch();
      if (batch.rows() > 0) {
        StepEvent event = StepEvent.beginIfRecorded();
        long begin = System.nanoTime();
        engine.step(batch);
        stepNanos = System.nanoTime() - begin;
        prefillBudget.recordStep(stepNanos);
        jitWarmup.recordStep(stepNanos);
        stepListener.stepped(begin, begin + stepNanos, batch, decodingRows);
        if (event != null) {
          event.end(batch, decodingRows);
        }
      }
      int tokens = 0;
      for (int i = 0; i < scheduled.size(); i++) {
        scheduled.get(i).request.collect(batch);
        tokens += scheduled.get(i).request.drawnTokens();
      }
      if (batch.rows() > 0 && batch.rows() == decodingRows) {
        stepCosts.record(decodingRows, stepNanos, tokens);
      }
    } catch (RuntimeException | Error e) {
      scheduled.forEach(slot -> slot.request.fail(e));
    }
    batch.clear();
    finishStep();
  }

  /**
   * Schedules all ready requests, and waits briefly for those that are almost ready. A request that
   * reports a token counts as decoding, so that its next token does not wait for a step full of
   * prompt rows.
   */
  private void gather() {
    long begin = System.nanoTime();
    awaitQuantization();
    awaitReports(begin);
    lock.lock();
    try {
      int hadDecoders = decoding;
      decoding = 0;
      boolean isAnyReady = false;
      for (int i = 0; i < running.size(); i++) {
        Slot one = running.get(i);
        decoding += one.isPrefilling() ? 0 : 1;
        if (one.state == State.READY) {
          isAnyReady |= !one.isPrefilling();
          scheduled.add(one);
          move(one, State.STEPPING);
        }
      }
      waitedInVain = hadDecoders > 0 && !isAnyReady;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for listeners: longer for the first decoding request, unless that was in vain before. */
  private void awaitReports(long begin) {
    double shareForFirst =
        waitedInVain || decoding == 0 ? MAX_WAIT_SHARE : MAX_WAIT_SHARE_FOR_FIRST;
    while (reporting > 0) {
      double share = reporting < decoding ? MAX_WAIT_SHARE : shareForFirst;
      if (System.nanoTime() - begin >= Math.max(MIN_WAIT_NANOS, (long) (share * stepNanos))) {
        return;
      }
      Thread.yield();
    }
  }

  /**
   * Delays a step while every decoding request quantizes or reports. Such a step would consist of
   * prompt rows only; it would take processors from quantization and delay the decoding requests.
   * The delay is at most the time of {@link #MAX_QUANTIZATION_STEPS} steps.
   */
  private void awaitQuantization() {
    lock.lock();
    try {
      long left = MAX_QUANTIZATION_STEPS * stepNanos;
      while (left > 0 && decodersQuantizing > 0 && !isAnyDecoderReady()) {
        left = quantized.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // for the caller
    } finally {
      lock.unlock();
    }
  }

  private boolean isAnyDecoderReady() {
    for (int i = 0; i < running.size(); i++) {
      if (running.get(i).state == State.READY && !running.get(i).isPrefilling()) {
        return true;
      }
    }
    return false;
  }

  /** Ends the step and wakes the requests that have something to report. */
  private void finishStep() {
    lock.lock();
    try {
      long now = System.nanoTime();
      for (int i = 0; i < scheduled.size(); i++) {
        Slot one = scheduled.get(i);
        if (one.request.continuesSilently(now)) {
          move(one, State.READY);
        } else {
          one.quantizes = one.request.mustQuantize();
          move(one, State.REPORTING);
          one.wakeUp.signal();
        }
      }
      scheduled.clear();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Adds decode rows, then prompt rows in order of arrival. A remainder that is too small for one
   * prompt may fit a row of a later prompt with a shorter past.
   */
  private void fillBatch() {
    int maxRows = scheduled.size() + MAX_DRAFT_ROWS;
    int left = scheduled.size();
    for (int i = 0; i < scheduled.size(); i++, left--) {
      if (!scheduled.get(i).isPrefilling()) {
        scheduled.get(i).request.addTo(batch, maxRows - batch.rows() - (left - 1));
      }
    }
    decodingRows = batch.rows();
    jitWarmup.recordDecode(decodingRows);
    planPrefill();
    for (int i = 0; i < scheduled.size(); i++) {
      Request one = scheduled.get(i).request;
      if (one.isPrefilling()) {
        int past = one.cache().length();
        prefillBudget.add(one.addTo(batch, prefillRows(one, past)), past);
      }
    }
    requeueWithoutRows();
  }

  private int prefillRows(Request one, int past) {
    boolean isAlone = scheduled.size() == 1 && decoding == 0;
    return isAlone && jitWarmup.takesSingleRow(past, one.length() - past)
        ? 1
        : prefillBudget.rowsFor(past);
  }

  private void planPrefill() {
    lock.lock();
    try {
      double free = 1 - Math.min(1, quantizing / (double) PROCESSORS);
      prefillBudget.plan(decoding, decodingRows, lateNanos, free);
      lateNanos = 0;
    } finally {
      lock.unlock();
    }
  }

  private void requeueWithoutRows() {
    lock.lock();
    try {
      for (int i = scheduled.size() - 1; i >= 0; i--) {
        if (scheduled.get(i).request.isLeftOut()) {
          move(scheduled.remove(i), State.READY);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private static void rethrow(Throwable failure) {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  /**
   * Inserts single-row steps into a long prefill, so that the JIT compiles the decode path while
   * the prompt is still being processed. Steps of many rows run other code; without this, the first
   * generated tokens would run interpreted.
   *
   * <p>Results do not depend on it, since a prefill step gives the same bits however it is chunked.
   * Time does: a single row takes longer than one of many, for large models hundreds of
   * milliseconds. For a small model, the rows are therefore spread over several steps; a large one
   * gets only a few.
   */
  static final class JitWarmup {
    /** Single rows, or decode steps, that complete the warm-up. */
    private static final int ROWS = 256;

    /** Maximum single rows at the start of each prefill step. */
    private static final int ROWS_PER_STEP = 32;

    /** Prompt tokens that must remain, since compilation takes time. */
    private static final int MIN_UNREAD = 1024;

    /** Maximum share of the total step time for single rows. */
    private static final double MAX_SHARE = 1.0 / 8;

    private static final long MAX_NANOS = 1_000_000_000;

    private int done;
    private boolean isSingle; // the current step
    private long stepNanos; // of all steps so far
    private long singleNanos; // of those with a single prompt row

    /** Records a step with {@code rows} decode rows. */
    void recordDecode(int rows) {
      isSingle = false;
      done = Math.min(ROWS, done + Math.min(1, rows));
    }

    /** Returns whether a prompt that is prefilled alone takes a single row now. */
    boolean takesSingleRow(int past, int unread) {
      isSingle =
          done < ROWS
              && unread >= MIN_UNREAD
              && past % Request.PREFILL_STEP < ROWS_PER_STEP
              && singleNanos < Math.min(MAX_NANOS, stepNanos * MAX_SHARE);
      done += isSingle ? 1 : 0;
      return isSingle;
    }

    /** Records the time of the step. */
    void recordStep(long nanos) {
      if (done < ROWS) {
        stepNanos += nanos;
        singleNanos += isSingle ? nanos : 0;
      }
    }
  }
}
