package dev.kvasir.engine;

import dev.kvasir.engine.Sequence.State;
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
public final class StepLoop {
  /** How long a step is put off for sequences whose listeners are about to be through. */
  private static final long LEAST_WAIT_NANOS = 50_000;

  /**
   * The part of the last step's time that the next one may be put off: they would miss it whole.
   */
  private static final double MOST_WAIT = 0.15;

  /** Steps that prompts may be put off for while those who wait for a token are packing. */
  private static final int PACKING_STEPS = 2;

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  private final Engine engine;
  private final Batch batch = new Batch();
  private final PromptPace pace = new PromptPace();
  private final Rehearsal rehearsal = new Rehearsal();
  private final List<Sequence> stepping = new ArrayList<>(); // of the step at hand

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition packed = lock.newCondition(); // somebody who waits for a token has
  private final List<Sequence> live = new ArrayList<>(); // in the order of their arrival
  private boolean steps; // whether a thread is running a step
  private int decoding; // sequences that wait for a token, or are being told one
  private int decodingRows; // of those, in the step at hand
  private long stepNanos; // of the last step
  private int packing; // sequences that do, or will before they are ready
  private int decodersPacking; // of those, who wait for a token
  private long lateNanos; // what the longest packing of those took since the last step
  private volatile int telling; // sequences whose listeners are told a token
  private volatile StepWatch watch = StepWatch.NOBODY;

  public StepLoop(Engine engine) {
    this.engine = engine;
  }

  /** Lets somebody see what happens when; the last one who asked. */
  public void watch(StepWatch by) {
    watch = by;
  }

  /**
   * Generates after a sequence's text until it ends, together with whatever else there is to do.
   * The listener is called on this thread.
   *
   * @throws RuntimeException what made the generation end early; the sequence may be used again
   */
  public void run(Sequence sequence, Sequence.Request request, SequenceListener listener) {
    sequence.begin(request, listener.stopped());
    try {
      generate(sequence, listener);
    } catch (RuntimeException | Error e) {
      retire(sequence);
      endAfter(e, sequence);
      throw e;
    }
    retire(sequence);
    sequence.end();
  }

  private void generate(Sequence sequence, SequenceListener listener) {
    if (sequence.finish() == null) {
      admit(sequence);
      do {
        awaitToken(sequence);
      } while (goesOn(sequence, listener));
    }
    rethrow(sequence.failure());
    sequence.tellRest(listener);
  }

  /** What comes on top of a failure must not hide it. */
  private static void endAfter(Throwable failure, Sequence sequence) {
    try {
      sequence.end();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private void admit(Sequence sequence) {
    lock.lock();
    try {
      sequence.called = lock.newCondition();
      sequence.state = State.READY;
      live.add(sequence);
    } finally {
      lock.unlock();
    }
  }

  private void retire(Sequence sequence) {
    lock.lock();
    try {
      move(sequence, State.DONE);
      live.remove(sequence);
      packed.signal(); // it will not, and nobody need wait for it
    } finally {
      lock.unlock();
    }
  }

  /** The only way from one state to another; the lock is held. */
  private void move(Sequence sequence, State state) {
    int change = (state == State.TELLING ? 1 : 0) - (sequence.state == State.TELLING ? 1 : 0);
    packing += sequence.packs ? change : 0;
    if (!sequence.readsPrompt()) {
      telling += change;
      decodersPacking += sequence.packs ? change : 0;
    }
    sequence.state = state;
  }

  /** Tells what has come; a sequence that goes on is packed and ready for the next step. */
  private boolean goesOn(Sequence sequence, SequenceListener listener) {
    boolean goesOn = sequence.tell(listener);
    if (goesOn) {
      long packNanos = pack(sequence);
      lock.lock();
      try {
        move(sequence, State.READY);
        if (sequence.packs && !sequence.readsPrompt()) {
          lateNanos = Math.max(lateNanos, packNanos);
          packed.signal();
        }
      } finally {
        lock.unlock();
      }
    }
    return goesOn;
  }

  private long pack(Sequence sequence) {
    long begin = System.nanoTime();
    sequence.pack();
    long end = System.nanoTime();
    if (sequence.packs) {
      watch.packed(begin, end, sequence.hasReadStep());
    }
    return end - begin;
  }

  /** Runs steps, or lets others run them, until there is something to tell of a sequence. */
  private void awaitToken(Sequence sequence) {
    while (mustStep(sequence)) {
      try {
        step();
      } finally {
        handOver(sequence);
      }
    }
  }

  /**
   * Waits until there is something to tell of a sequence, or until it is this thread's turn to run
   * a step. Whether to end early is asked of the listener: an interrupt is kept for the caller.
   */
  private boolean mustStep(Sequence sequence) {
    lock.lock();
    try {
      while (sequence.state != State.TELLING && steps) {
        sequence.isAwaited = true;
        sequence.called.awaitUninterruptibly();
        sequence.isAwaited = false;
      }
      if (sequence.state == State.TELLING) {
        return false;
      }
      steps = true;
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
  private void handOver(Sequence from) {
    lock.lock();
    try {
      steps = false;
      Sequence next = null;
      for (int i = 0; i < live.size() && from.state == State.TELLING; i++) {
        Sequence one = live.get(i);
        if (one.isAwaited && one.state == State.READY && (next == null || one.readsPrompt())) {
          next = one;
        }
      }
      if (next != null) {
        next.called.signal();
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
        pace.took(stepNanos);
        rehearsal.took(stepNanos);
        watch.stepped(begin, begin + stepNanos, batch, decodingRows);
      }
      for (int i = 0; i < stepping.size(); i++) {
        stepping.get(i).take(batch);
      }
    } catch (RuntimeException | Error e) {
      stepping.forEach(sequence -> sequence.fail(e));
    }
    batch.clear();
    leave();
  }

  /**
   * Takes all sequences that are ready, and waits a little for those that are about to be. Who is
   * being told a token counts as one who waits for the next: it must not come to a step that was
   * filled up with prompts in the meantime.
   */
  private void gather() {
    long wait = Math.max(LEAST_WAIT_NANOS, (long) (MOST_WAIT * stepNanos));
    long end = telling == 0 ? 0 : System.nanoTime() + wait;
    awaitPacking();
    while (telling > 0 && System.nanoTime() < end) {
      Thread.yield();
    }
    lock.lock();
    try {
      decoding = 0;
      for (int i = 0; i < live.size(); i++) {
        decoding += live.get(i).readsPrompt() ? 0 : 1;
        if (live.get(i).state == State.READY) {
          stepping.add(live.get(i));
          move(live.get(i), State.STEPPING);
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
  private void awaitPacking() {
    lock.lock();
    try {
      long left = PACKING_STEPS * stepNanos;
      while (left > 0 && decodersPacking > 0 && !isAnyDecoderReady()) {
        left = packed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // for the caller
    } finally {
      lock.unlock();
    }
  }

  private boolean isAnyDecoderReady() {
    for (int i = 0; i < live.size(); i++) {
      if (live.get(i).state == State.READY && !live.get(i).readsPrompt()) {
        return true;
      }
    }
    return false;
  }

  /** Wakes those who have something to tell. */
  private void leave() {
    lock.lock();
    try {
      long now = System.nanoTime();
      for (int i = 0; i < stepping.size(); i++) {
        Sequence one = stepping.get(i);
        if (one.readsOnUntold(now)) {
          move(one, State.READY);
        } else {
          one.packs = one.mustPack();
          move(one, State.TELLING);
          one.called.signal();
        }
      }
      stepping.clear();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Rows that decode, then tokens of prompts: the first to arrive is the first to be read, and what
   * is too little for another row of it may do for one of a later prompt with a shorter past.
   */
  private void fillBatch() {
    for (int i = 0; i < stepping.size(); i++) {
      if (!stepping.get(i).readsPrompt()) {
        stepping.get(i).addTo(batch, 1);
      }
    }
    decodingRows = batch.rows();
    rehearsal.generates(decodingRows);
    planPrompts();
    for (int i = 0; i < stepping.size(); i++) {
      Sequence one = stepping.get(i);
      if (one.readsPrompt()) {
        int past = one.cache().length();
        pace.add(one.addTo(batch, rowsOfPrompt(one, past)), past);
      }
    }
    putBackWhoHasNoRows();
  }

  private int rowsOfPrompt(Sequence one, int past) {
    boolean isAlone = stepping.size() == 1 && decoding == 0;
    return isAlone && rehearsal.takesOne(past, one.length() - past) ? 1 : pace.rowsAfter(past);
  }

  private void planPrompts() {
    lock.lock();
    try {
      double free = 1 - Math.min(1, packing / (double) PROCESSORS);
      pace.plan(decoding, decodingRows, lateNanos, free);
      lateNanos = 0;
    } finally {
      lock.unlock();
    }
  }

  private void putBackWhoHasNoRows() {
    lock.lock();
    try {
      for (int i = stepping.size() - 1; i >= 0; i--) {
        if (stepping.get(i).isLeftOut()) {
          move(stepping.remove(i), State.READY);
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
