package dev.kvasir.engine;

import dev.kvasir.engine.Request.State;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Generates for any number of sequences at once: each step has a row of every sequence that is
 * waiting for its next token, and some tokens of the prompts that are being read. Sequences join
 * and leave between steps.
 *
 * <p>There is no thread of its own. Of the threads that wait for a generation, one at a time runs a
 * step for all; then each tells its own listener and packs its own pages while others run the next
 * step. Only who has something to do is woken: where there are few processors, threads that look
 * whether it is their turn take time from the step. What a sequence computes does not depend on
 * whom it shared a step with.
 */
public final class Scheduler {
  /** How long a step is put off for sequences whose listeners are about to be through. */
  private static final long MIN_WAIT_NANOS = 50_000;

  /**
   * The part of the last step's time that the next one may be put off: they would miss it whole.
   */
  private static final double MAX_WAIT_SHARE = 0.15;

  /** Steps that prompts may be put off for while those who wait for a token are packing. */
  private static final int MAX_QUANTIZATION_STEPS = 2;

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  private final Engine engine;
  private final Batch batch = new Batch();
  private final PrefillBudget prefillBudget = new PrefillBudget();
  private final JitWarmup jitWarmup = new JitWarmup();
  private final List<Request> scheduled = new ArrayList<>(); // of the step at hand

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition quantized = lock.newCondition(); // somebody who waits for a token has
  private final List<Request> running = new ArrayList<>(); // in the order of their arrival
  private boolean isStepping; // whether a thread is running a step
  private int decoding; // sequences that wait for a token, or are being told one
  private int decodingRows; // of those, in the step at hand
  private long stepNanos; // of the last step
  private int quantizing; // sequences that do, or will before they are ready
  private int decodersQuantizing; // of those, who wait for a token
  private long lateNanos; // what the longest packing of those took since the last step
  private volatile int reporting; // sequences whose listeners are told a token
  private volatile StepListener stepListener = StepListener.NONE;

  public Scheduler(Engine engine) {
    this.engine = engine;
  }

  /** Lets somebody see what happens when; the last one who asked. */
  public void stepListener(StepListener listener) {
    stepListener = listener;
  }

  /**
   * Generates after a sequence's text until it ends, together with whatever else there is to do.
   * The listener is called on this thread.
   *
   * @throws RuntimeException what made the generation end early; the sequence may be used again
   */
  public void run(Request request, Request.GenerationParams params, RequestListener listener) {
    request.begin(params, listener.stopped());
    try {
      generate(request, listener);
    } catch (RuntimeException | Error e) {
      retire(request);
      endAfter(e, request);
      throw e;
    }
    retire(request);
    request.end();
  }

  private void generate(Request request, RequestListener listener) {
    if (request.finish() == null) {
      admit(request);
      do {
        awaitToken(request);
      } while (reportAndContinue(request, listener));
    }
    rethrow(request.failure());
    request.reportRest(listener);
  }

  /** What comes on top of a failure must not hide it. */
  private static void endAfter(Throwable failure, Request request) {
    try {
      request.end();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private void admit(Request request) {
    lock.lock();
    try {
      request.wakeUp = lock.newCondition();
      request.state = State.READY;
      running.add(request);
    } finally {
      lock.unlock();
    }
  }

  private void retire(Request request) {
    lock.lock();
    try {
      move(request, State.DONE);
      running.remove(request);
      quantized.signal(); // it will not, and nobody need wait for it
    } finally {
      lock.unlock();
    }
  }

  /** The only way from one state to another; the lock is held. */
  private void move(Request request, State state) {
    int change = (state == State.REPORTING ? 1 : 0) - (request.state == State.REPORTING ? 1 : 0);
    quantizing += request.quantizes ? change : 0;
    if (!request.isPrefilling()) {
      reporting += change;
      decodersQuantizing += request.quantizes ? change : 0;
    }
    request.state = state;
  }

  /** Tells what has come; a sequence that goes on is packed and ready for the next step. */
  private boolean reportAndContinue(Request request, RequestListener listener) {
    boolean continues = request.report(listener);
    if (continues) {
      long quantizeNanos = quantize(request);
      lock.lock();
      try {
        move(request, State.READY);
        if (request.quantizes && !request.isPrefilling()) {
          lateNanos = Math.max(lateNanos, quantizeNanos);
          quantized.signal();
        }
      } finally {
        lock.unlock();
      }
    }
    return continues;
  }

  private long quantize(Request request) {
    long begin = System.nanoTime();
    request.quantize();
    long end = System.nanoTime();
    if (request.quantizes) {
      stepListener.quantized(begin, end, request.endedPrefillStep());
    }
    return end - begin;
  }

  /** Runs steps, or lets others run them, until there is something to tell of a sequence. */
  private void awaitToken(Request request) {
    while (mustStep(request)) {
      try {
        step();
      } finally {
        handOver(request);
      }
    }
  }

  /**
   * Waits until there is something to tell of a sequence, or until it is this thread's turn to run
   * a step. Whether to end early is asked of the listener: an interrupt is kept for the caller.
   */
  private boolean mustStep(Request request) {
    lock.lock();
    try {
      while (request.state != State.REPORTING && isStepping) {
        request.isWaiting = true;
        request.wakeUp.awaitUninterruptibly();
        request.isWaiting = false;
      }
      if (request.state == State.REPORTING) {
        return false;
      }
      isStepping = true;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends this thread's turn. If it has something to tell, another one runs the next step, whoever
   * reads a prompt first of all: such a thread has little to tell and can run many in a row. Who is
   * not waiting now will look for a turn by itself.
   */
  private void handOver(Request from) {
    lock.lock();
    try {
      isStepping = false;
      Request next = null;
      for (int i = 0; i < running.size() && from.state == State.REPORTING; i++) {
        Request one = running.get(i);
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
        long begin = System.nanoTime();
        engine.step(batch);
        stepNanos = System.nanoTime() - begin;
        prefillBudget.recordStep(stepNanos);
        jitWarmup.recordStep(stepNanos);
        stepListener.stepped(begin, begin + stepNanos, batch, decodingRows);
      }
      for (int i = 0; i < scheduled.size(); i++) {
        scheduled.get(i).collect(batch);
      }
    } catch (RuntimeException | Error e) {
      scheduled.forEach(request -> request.fail(e));
    }
    batch.clear();
    finishStep();
  }

  /**
   * Takes all sequences that are ready, and waits a little for those that are about to be. Who is
   * being told a token counts as one who waits for the next: it must not come to a step that was
   * filled up with prompts in the meantime.
   */
  private void gather() {
    long wait = Math.max(MIN_WAIT_NANOS, (long) (MAX_WAIT_SHARE * stepNanos));
    long end = reporting == 0 ? 0 : System.nanoTime() + wait;
    awaitQuantization();
    while (reporting > 0 && System.nanoTime() < end) {
      Thread.yield();
    }
    lock.lock();
    try {
      decoding = 0;
      for (int i = 0; i < running.size(); i++) {
        decoding += running.get(i).isPrefilling() ? 0 : 1;
        if (running.get(i).state == State.READY) {
          scheduled.add(running.get(i));
          move(running.get(i), State.STEPPING);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * While all who wait for a token are packing or being told one, a step would have prompts alone:
   * it would take processors from the packing, and then they would wait for its end. The time of
   * {@link #PACKING_STEPS} steps is the most that it is put off.
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

  /** Wakes those who have something to tell. */
  private void finishStep() {
    lock.lock();
    try {
      long now = System.nanoTime();
      for (int i = 0; i < scheduled.size(); i++) {
        Request one = scheduled.get(i);
        if (one.continuesSilently(now)) {
          move(one, State.READY);
        } else {
          one.quantizes = one.mustQuantize();
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
   * Rows that decode, then tokens of prompts: the first to arrive is the first to be read, and what
   * is too little for another row of it may do for one of a later prompt with a shorter past.
   */
  private void fillBatch() {
    for (int i = 0; i < scheduled.size(); i++) {
      if (!scheduled.get(i).isPrefilling()) {
        scheduled.get(i).addTo(batch, 1);
      }
    }
    decodingRows = batch.rows();
    jitWarmup.recordDecode(decodingRows);
    planPrefill();
    for (int i = 0; i < scheduled.size(); i++) {
      Request one = scheduled.get(i);
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
        if (scheduled.get(i).isLeftOut()) {
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
}
