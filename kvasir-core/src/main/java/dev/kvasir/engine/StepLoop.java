package dev.kvasir.engine;

import dev.kvasir.engine.Sequence.State;
import java.util.ArrayList;
import java.util.List;

/**
 * Generates for any number of sequences at once: each step has a row of every sequence that is
 * waiting for its next token, and some tokens of the prompts that are being read. Sequences join
 * and leave between steps.
 *
 * <p>There is no thread of its own. Of the threads that wait for a generation, one at a time runs a
 * step for all; then each tells its own listener and packs its own pages while others run the next
 * step. What a sequence computes does not depend on whom it shared a step with.
 */
public final class StepLoop {
  /** Prompt tokens of a step that nobody waits in. */
  private static final int PROMPT_ROWS = 256;

  /** How long a step is put off for sequences whose listeners are about to be through. */
  private static final long LEAST_WAIT_NANOS = 50_000;

  /**
   * The part of the last step's time that the next one may be put off: they would miss it whole.
   */
  private static final double MOST_WAIT = 0.15;

  private final Engine engine;
  private final Batch batch = new Batch();
  private final PromptPace pace = new PromptPace();
  private final List<Sequence> stepping = new ArrayList<>(); // of the step at hand

  private final Object lock = new Object();
  private final List<Sequence> live = new ArrayList<>(); // in the order of their arrival
  private boolean steps; // whether a thread is running a step
  private int decoding; // sequences that wait for a token, or are being told one
  private int decodingRows; // of those, in the step at hand
  private long stepNanos; // of the last step
  private volatile int telling; // sequences whose listeners are being told
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
    synchronized (lock) {
      sequence.state = State.READY;
      live.add(sequence);
    }
  }

  private void retire(Sequence sequence) {
    synchronized (lock) {
      move(sequence, State.DONE);
      live.remove(sequence);
      lock.notifyAll();
    }
  }

  /** The only way from one state to another; the lock is held. */
  private void move(Sequence sequence, State state) {
    telling += (state == State.TELLING ? 1 : 0) - (sequence.state == State.TELLING ? 1 : 0);
    sequence.state = state;
  }

  /** Tells what has come; a sequence that goes on is packed and ready for the next step. */
  private boolean goesOn(Sequence sequence, SequenceListener listener) {
    boolean goesOn = sequence.tell(listener);
    if (goesOn) {
      pack(sequence);
      synchronized (lock) {
        move(sequence, State.READY);
      }
    }
    return goesOn;
  }

  private void pack(Sequence sequence) {
    boolean takesItsTime = sequence.mustPack();
    long begin = System.nanoTime();
    sequence.pack();
    if (takesItsTime) {
      watch.packed(begin, System.nanoTime(), sequence.hasReadStep());
    }
  }

  /** Runs steps, or lets others run them, until there is something to tell of a sequence. */
  private void awaitToken(Sequence sequence) {
    while (mustStep(sequence)) {
      try {
        step();
      } finally {
        synchronized (lock) {
          steps = false;
          lock.notifyAll();
        }
      }
    }
  }

  /**
   * Waits until there is something to tell of a sequence, or until it is this thread's turn to run
   * a step. Whether to end early is asked of the listener: an interrupt is kept for the caller.
   */
  private boolean mustStep(Sequence sequence) {
    boolean interrupted = false;
    synchronized (lock) {
      while (sequence.state != State.TELLING && steps) {
        try {
          lock.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (sequence.state == State.TELLING) {
        return false;
      }
      steps = true;
      return true;
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
        pace.took(decodingRows, batch.rows() - decodingRows, stepNanos);
        watch.stepped(begin, begin + stepNanos, batch.rows(), decoding);
      }
      for (int i = 0; i < stepping.size(); i++) {
        stepping.get(i).take(batch);
      }
    } catch (RuntimeException | Error e) {
      stepping.forEach(sequence -> sequence.fail(e));
    }
    batch.clear();
    leave(State.TELLING);
  }

  /**
   * Takes all sequences that are ready, and waits a little for those that are about to be. Who is
   * being told a token counts as one who waits for the next: it must not come to a step that was
   * filled up with prompts in the meantime.
   */
  private void gather() {
    long wait = Math.max(LEAST_WAIT_NANOS, (long) (MOST_WAIT * stepNanos));
    long end = telling == 0 ? 0 : System.nanoTime() + wait;
    while (telling > 0 && System.nanoTime() < end) {
      Thread.yield();
    }
    synchronized (lock) {
      decoding = 0;
      for (int i = 0; i < live.size(); i++) {
        decoding += live.get(i).readsPrompt() ? 0 : 1;
        if (live.get(i).state == State.READY) {
          stepping.add(live.get(i));
          move(live.get(i), State.STEPPING);
        }
      }
    }
  }

  private void leave(State state) {
    synchronized (lock) {
      for (int i = 0; i < stepping.size(); i++) {
        move(stepping.get(i), state);
      }
      stepping.clear();
    }
  }

  /** Rows that decode, then tokens of prompts: the first to arrive is the first to be read. */
  private void fillBatch() {
    for (int i = 0; i < stepping.size(); i++) {
      if (!stepping.get(i).readsPrompt()) {
        stepping.get(i).addTo(batch, 1);
      }
    }
    decodingRows = batch.rows();
    int room = promptRoom();
    for (int i = 0; i < stepping.size(); i++) {
      if (stepping.get(i).readsPrompt()) {
        room -= stepping.get(i).addTo(batch, room);
      }
    }
    putBackWhoHasNoRows();
  }

  private int promptRoom() {
    if (decoding == 0) {
      return PROMPT_ROWS;
    }
    return decodingRows > 0 && pace.mustSeeUsual() ? 0 : pace.rowsBeside(decoding);
  }

  private void putBackWhoHasNoRows() {
    synchronized (lock) {
      for (int i = stepping.size() - 1; i >= 0; i--) {
        if (stepping.get(i).isLeftOut()) {
          move(stepping.remove(i), State.READY);
        }
      }
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
