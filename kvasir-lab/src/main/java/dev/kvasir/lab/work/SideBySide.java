package dev.kvasir.lab.work;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Runner.Delivery;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Runs pieces of one thread each, as many at a time as a process has threads for them. */
final class SideBySide<R extends Serializable> {
  /** How long a listener that wants to stop waits for being asked, at the most. */
  private static final long ASKED_EVERY_MILLIS = 200;

  private final List<? extends Piece<? extends R>> pieces;
  private final WorkListener listener;
  private final Delivery<R> delivery;
  private final double[] done; // by piece
  private final double inAll;
  private final BlockingQueue<Runnable> news = new LinkedBlockingQueue<>();
  private volatile boolean stopped;
  private int open;

  SideBySide(
      List<? extends Piece<? extends R>> pieces, WorkListener listener, Delivery<R> delivery) {
    this.pieces = pieces;
    this.listener = listener;
    this.delivery = delivery;
    this.done = new double[pieces.size()];
    this.inAll = pieces.stream().mapToDouble(Piece::work).sum();
    this.open = pieces.size();
  }

  boolean run(Worksite site) {
    boolean whole = true;
    try (ExecutorService workers = Executors.newFixedThreadPool(site.threads())) {
      try {
        for (int i = 0; i < pieces.size(); i++) {
          int piece = i;
          workers.execute(() -> run(piece, site));
        }
        whole = hear();
      } finally {
        stopped = true; // and closing waits for those that have begun
      }
    }
    news.forEach(Runnable::run); // what was finished meanwhile
    return whole;
  }

  private boolean hear() {
    while (open > 0) {
      if (listener.stopped()) {
        return false;
      }
      try {
        Runnable next = news.poll(ASKED_EVERY_MILLIS, TimeUnit.MILLISECONDS);
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

  private void run(int index, Worksite site) {
    if (stopped) {
      return;
    }
    Piece<? extends R> piece = pieces.get(index);
    try {
      R result = piece.run(site, new Teller(index));
      news.add(
          () -> {
            open--;
            delivery.take(index, result);
          });
    } catch (Stopped e) {
      // There is nothing to deliver.
    } catch (RuntimeException | Error e) {
      news.add(() -> fail(e));
    }
  }

  private static void fail(Throwable why) {
    if (why instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) why;
  }

  /** Lets the thread that waits for results tell the listener. */
  private final class Teller implements WorkListener {
    private final int index;

    Teller(int index) {
      this.index = index;
    }

    @Override
    public void progress(double part, double of) {
      double work = pieces.get(index).work() * part / of;
      news.add(
          () -> {
            done[index] = work;
            listener.progress(Math.min(inAll, Arrays.stream(done).sum()), inAll);
          });
    }

    @Override
    public void doing(String what) {
      news.add(() -> listener.doing(what));
    }

    @Override
    public boolean stopped() {
      return stopped;
    }
  }
}
