package dev.kvasir.engine;

import dev.kvasir.GenerationListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Generates for any number of requests at once (continuous batching). A step has a row of every
 * decoding request, or tokens of prompts in prefill; decode steps run in the midst of prompt steps.
 * Where the engine cannot do that, each step has both. Requests join and leave between steps.
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
  private final LongSupplier nanoTime;
  private final StepGroup decodes = new StepGroup(); // with the prompts, unless they are preempted
  private final StepGroup prompts = new StepGroup(); // of a step that can be preempted
  private final Preemption preemption = new DecodesInBetween();
  private final PrefillBudget prefillBudget = new PrefillBudget();
  private final PrefillSlices prefillSlices = new PrefillSlices();
  private final JitWarmup jitWarmup = new JitWarmup();
  private final StepCosts stepCosts = new StepCosts();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition quantized = lock.newCondition(); // signalled by decoding requests
  private final List<Slot> running = new ArrayList<>(); // in order of arrival
  private boolean isStepping; // whether a thread runs a step
  private int decoding; // requests that wait for a token or report one
  private boolean waitedInVain; // for a decoding request to be ready
  private long stepNanos; // of the last step with decode rows
  private long sliceBegin; // of the prompt step, or of its part since a decode step
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

  /** The requests of an engine step. */
  private static final class StepGroup {
    final Batch batch = new Batch();
    final List<Slot> slots = new ArrayList<>();
    int decodingRows;
  }

  /** Runs decode steps between the parts of a prompt step. */
  private final class DecodesInBetween implements Preemption {
    @Override
    public long nanosLeft() {
      return prefillSlices.nanosLeft(nanoTime.getAsLong());
    }

    @Override
    public boolean runOthers() {
      return decodeInBetween();
    }

    @Override
    public void finished(long nanos) {
      prefillSlices.recordPart(nanos);
    }
  }

  public Scheduler(Engine engine) {
    this(engine, System::nanoTime);
  }

  /**
   * @param nanoTime the clock of steps
   */
  Scheduler(Engine engine, LongSupplier nanoTime) {
    this.engine = engine;
    this.nanoTime = nanoTime;
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
    long begin = nanoTime.getAsLong();
    slot.request.quantize();
    long end = nanoTime.getAsLong();
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
        step(slot);
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

  /**
   * Runs a step on the thread of a request. If prompts are preempted, only the thread of a prompt
   * runs them: it has no token to report meanwhile.
   */
  private void step(Slot leader) {
    boolean isShared = sharesSteps();
    if (!isShared && leader.isPrefilling()) {
      gather(prompts, false, true);
      stepPrompts();
    } else {
      awaitDecodes();
      gather(decodes, true, isShared);
      stepDecodes(isShared);
    }
  }

  /**
   * Returns whether prompts share steps with decoding requests, and with that reads of weights.
   * Where the past of a prompt is so long that few of its rows fit, it is preempted instead.
   */
  private boolean sharesSteps() {
    if (!engine.isPreemptible()) {
      return true;
    }
    lock.lock();
    try {
      int decoders = 0;
      int past = 0;
      for (int i = 0; i < running.size(); i++) {
        Slot one = running.get(i);
        boolean isPrompt = one.isPrefilling();
        decoders += isPrompt ? 0 : 1;
        past = Math.max(past, isPrompt ? one.request.cache().length() : 0);
      }
      return decoders == 0 || prefillBudget.fits(past, decoders);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs a step of the decoding requests.
   *
   * @param withPrompts whether it has some rows of prompts too
   */
  private void stepDecodes(boolean withPrompts) {
    try {
      addDecodeRows();
      if (withPrompts) {
        addPromptRows();
      }
      if (decodes.batch.rows() > 0) {
        long begin = nanoTime.getAsLong();
        run(decodes, null);
        long end = nanoTime.getAsLong();
        stepNanos = end - begin;
        if (withPrompts) {
          prefillBudget.recordStep(stepNanos);
        }
        if (decodes.batch.rows() == decodes.decodingRows) {
          prefillSlices.recordDecode(decodes.decodingRows, begin, end);
        }
        jitWarmup.recordStep(stepNanos);
        stepListener.stepped(begin, end, decodes.batch, decodes.decodingRows);
      }
      collect(decodes);
      recordCosts();
    } catch (RuntimeException | Error e) {
      decodes.slots.forEach(slot -> slot.request.fail(e));
    }
    finishStep(decodes);
  }

  /** Runs rows of prompts, and steps of decoding requests in between. */
  private void stepPrompts() {
    try {
      boolean isPreempted = decoding > 0;
      jitWarmup.recordDecode(0);
      prefillSlices.begin();
      for (int i = 0; i < prompts.slots.size(); i++) {
        Request one = prompts.slots.get(i).request;
        int past = one.cache().length();
        prefillSlices.add(one.addTo(prompts.batch, rowsOfPrompt(one, past)), past);
      }
      requeueWithoutRows(prompts);
      if (prompts.batch.rows() > 0) {
        long begin = nanoTime.getAsLong();
        sliceBegin = begin;
        run(prompts, isPreempted ? preemption : null);
        long end = nanoTime.getAsLong();
        jitWarmup.recordStep(end - begin);
        stepListener.stepped(sliceBegin, end, prompts.batch, 0);
      }
      collect(prompts);
    } catch (RuntimeException | Error e) {
      prompts.slots.forEach(slot -> slot.request.fail(e));
    }
    finishStep(prompts);
  }

  /**
   * Runs a step of the decoding requests in the midst of a prompt step.
   *
   * @return whether any was ready
   */
  private boolean decodeInBetween() {
    if (!waitedInVain || isAnyDecoderReady()) {
      awaitDecodes();
      gather(decodes, true, false);
    }
    if (decodes.slots.isEmpty()) {
      prefillSlices.recordInVain(nanoTime.getAsLong());
      return false;
    }
    stepListener.stepped(sliceBegin, nanoTime.getAsLong(), prompts.batch, 0);
    stepDecodes(false);
    prefillSlices.recordSlice();
    sliceBegin = nanoTime.getAsLong();
    return true;
  }

  private void run(StepGroup group, Preemption inBetween) {
    StepEvent event = StepEvent.beginIfRecorded();
    if (inBetween == null) {
      engine.step(group.batch);
    } else {
      engine.step(group.batch, inBetween);
    }
    if (event != null) {
      event.end(group.batch, group.decodingRows);
    }
  }

  private static void collect(StepGroup group) {
    for (int i = 0; i < group.slots.size(); i++) {
      group.slots.get(i).request.collect(group.batch);
    }
  }

  /** Records the time of a step that had decode rows only. */
  private void recordCosts() {
    int rows = decodes.batch.rows();
    if (rows > 0 && rows == decodes.decodingRows) {
      int tokens = 0;
      for (int i = 0; i < decodes.slots.size(); i++) {
        tokens += decodes.slots.get(i).request.drawnTokens();
      }
      stepCosts.record(rows, stepNanos, tokens);
    }
  }

  /** Waits briefly for decoding requests that are almost ready. */
  private void awaitDecodes() {
    long begin = nanoTime.getAsLong();
    awaitQuantization();
    awaitReports(begin);
  }

  /**
   * Schedules the requests of some kinds that are ready. A request that reports a token counts as
   * decoding, so that its next token does not wait for a step full of prompt rows.
   */
  private void gather(StepGroup group, boolean ofDecodes, boolean ofPrompts) {
    lock.lock();
    try {
      int hadDecoders = decoding;
      decoding = 0;
      boolean isAnyReady = false;
      for (int i = 0; i < running.size(); i++) {
        Slot one = running.get(i);
        boolean isPrompt = one.isPrefilling();
        decoding += isPrompt ? 0 : 1;
        if (one.state == State.READY) {
          isAnyReady |= !isPrompt;
          if (isPrompt ? ofPrompts : ofDecodes) {
            group.slots.add(one);
            move(one, State.STEPPING);
          }
        }
      }
      waitedInVain = ofDecodes ? hadDecoders > 0 && !isAnyReady : waitedInVain;
      prefillSlices.waiting(decoding, freeProcessors());
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
      if (nanoTime.getAsLong() - begin >= Math.max(MIN_WAIT_NANOS, (long) (share * stepNanos))) {
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
    lock.lock();
    try {
      for (int i = 0; i < running.size(); i++) {
        if (running.get(i).state == State.READY && !running.get(i).isPrefilling()) {
          return true;
        }
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the step and wakes the requests that have something to report. */
  private void finishStep(StepGroup group) {
    group.batch.clear();
    group.decodingRows = 0;
    lock.lock();
    try {
      long now = System.nanoTime();
      for (int i = 0; i < group.slots.size(); i++) {
        Slot one = group.slots.get(i);
        if (one.request.continuesSilently(now)) {
          move(one, State.READY);
        } else {
          one.quantizes = one.request.mustQuantize();
          move(one, State.REPORTING);
          one.wakeUp.signal();
        }
      }
      group.slots.clear();
    } finally {
      lock.unlock();
    }
  }

  private void addDecodeRows() {
    List<Slot> slots = decodes.slots;
    int maxRows = slots.size() + MAX_DRAFT_ROWS;
    int left = slots.size();
    for (int i = 0; i < slots.size(); i++, left--) {
      if (!slots.get(i).isPrefilling()) {
        slots.get(i).request.addTo(decodes.batch, maxRows - decodes.batch.rows() - (left - 1));
      }
    }
    decodes.decodingRows = decodes.batch.rows();
    jitWarmup.recordDecode(decodes.decodingRows);
  }

  /**
   * Adds rows of prompts to a step with decode rows, in order of arrival; a remainder that is too
   * small for one may fit a row of a later prompt with a shorter past.
   */
  private void addPromptRows() {
    planPrefill();
    for (int i = 0; i < decodes.slots.size(); i++) {
      Request one = decodes.slots.get(i).request;
      if (one.isPrefilling()) {
        int past = one.cache().length();
        prefillBudget.add(one.addTo(decodes.batch, rowsTogether(one, past)), past);
      }
    }
    requeueWithoutRows(decodes);
  }

  private int rowsTogether(Request one, int past) {
    return takesSingleRow(decodes, one, past) ? 1 : prefillBudget.rowsFor(past);
  }

  private int rowsOfPrompt(Request one, int past) {
    return takesSingleRow(prompts, one, past) ? 1 : prefillSlices.rowsFor(past);
  }

  private boolean takesSingleRow(StepGroup group, Request one, int past) {
    boolean isAlone = group.slots.size() == 1 && decoding == 0;
    return isAlone && jitWarmup.takesSingleRow(past, one.length() - past);
  }

  private void planPrefill() {
    lock.lock();
    try {
      prefillBudget.plan(decoding, decodes.decodingRows, lateNanos, freeProcessors());
      lateNanos = 0;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the share of the processors that do not quantize. The caller holds the lock. */
  private double freeProcessors() {
    return 1 - Math.min(1, quantizing / (double) PROCESSORS);
  }

  private void requeueWithoutRows(StepGroup group) {
    lock.lock();
    try {
      for (int i = group.slots.size() - 1; i >= 0; i--) {
        if (group.slots.get(i).request.isLeftOut()) {
          move(group.slots.remove(i), State.READY);
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
}
