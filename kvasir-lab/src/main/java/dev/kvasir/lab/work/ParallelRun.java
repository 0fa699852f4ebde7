package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.Runner.Delivery;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Runs single-threaded tasks in parallel, one per thread of the process. */
final class ParallelRun<R extends Serializable> {
  /** Maximum delay in milliseconds between two polls of the listener. */
  private static final long POLL_MILLIS = 200;

  private final List<? extends LabTask<? extends R>> tasks;
  private final ProgressListener listener;
  private final Delivery<R> delivery;
  private final double[] done; // by task
  private final double total;
  private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>();
  private volatile boolean stopped;
  private int remaining;

  ParallelRun(
      List<? extends LabTask<? extends R>> tasks, ProgressListener listener, Delivery<R> delivery) {
    this.tasks = tasks;
    this.listener = listener;
    this.delivery = delivery;
    this.done = new double[tasks.size()];
    this.total = tasks.stream().mapToDouble(LabTask::cost).sum();
    this.remaining = tasks.size();
  }

  boolean run(WorkerContext context) {
    boolean complete = true;
    try (ExecutorService workers = Executors.newFixedThreadPool(context.threads())) {
      try {
        for (int i = 0; i < tasks.size(); i++) {
          int index = i;
          workers.execute(() -> run(index, context));
        }
        complete = processEvents();
      } finally {
        stopped = true; // closing the executor waits for tasks that have started
      }
    }
    events.forEach(Runnable::run); // deliver what finished in the meantime
    return complete;
  }

  private boolean processEvents() {
    while (remaining > 0) {
      if (listener.isCancelled()) {
        return false;
      }
      try {
        Runnable next = events.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (next != null) {
          next.run();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }

  private void run(int index, WorkerContext context) {
    if (stopped) {
      return;
    }
    LabTask<? extends R> task = tasks.get(index);
    try {
      R result = task.run(context, new QueuedListener(index));
      events.add(
          () -> {
            remaining--;
            delivery.take(index, result);
          });
    } catch (WorkCancelledException e) {
      // A cancelled task has no result.
    } catch (RuntimeException | Error e) {
      events.add(() -> rethrow(e));
    }
  }

  private static void rethrow(Throwable why) {
    if (why instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) why;
  }

  /** Forwards reports to the listener on the thread that waits for results. */
  private final class QueuedListener implements ProgressListener {
    private final int index;

    QueuedListener(int index) {
      this.index = index;
    }

    @Override
    public void progress(double part, double of) {
      double work = tasks.get(index).cost() * part / of;
      events.add(
          () -> {
            done[index] = work;
            listener.progress(Math.min(total, Arrays.stream(done).sum()), total);
          });
    }

    @Override
    public void status(String what) {
      events.add(() -> listener.status(what));
    }

    @Override
    public boolean isCancelled() {
      return stopped;
    }
  }
}
