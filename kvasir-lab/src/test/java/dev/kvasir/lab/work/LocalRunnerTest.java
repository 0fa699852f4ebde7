package dev.kvasir.lab.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LocalRunnerTest {
  private record Square(int of) implements LabTask<Integer> {
    @Override
    public String name() {
      return "the square of " + of;
    }

    @Override
    public double cost() {
      return of;
    }

    @Override
    public Integer run(WorkerContext context, ProgressListener listener) {
      if (of < 0) {
        throw new InvalidInputException("of is %d; expected at least 0".formatted(of));
      }
      WorkCancelledException.reportOrThrow(listener, 0.5 * of, of);
      WorkCancelledException.reportOrThrow(listener, of, of);
      return of * of;
    }
  }

  private static final List<Square> PIECES = List.of(new Square(3), new Square(1), new Square(2));

  private final List<String> heard = new ArrayList<>();

  private boolean run(List<Square> tasks, int most) {
    ProgressListener listener =
        new ProgressListener() {
          private int steps;

          @Override
          public void progress(double done, double total) {
            heard.add(done + " of " + total);
            steps++;
          }

          @Override
          public void status(String what) {
            heard.add(what);
          }

          @Override
          public boolean isCancelled() {
            return steps >= most;
          }
        };
    return new LocalRunner(null)
        .run(tasks, listener, (index, result) -> heard.add(index + ": " + result));
  }

  @Test
  void tasksRunInOrderWithCombinedProgress() {
    assertThat(run(PIECES, Integer.MAX_VALUE)).isTrue();
    assertThat(heard)
        .containsExactly(
            "the square of 3",
            "1.5 of 6.0",
            "3.0 of 6.0",
            "0: 9",
            "the square of 1",
            "3.5 of 6.0",
            "4.0 of 6.0",
            "1: 1",
            "the square of 2",
            "5.0 of 6.0",
            "6.0 of 6.0",
            "2: 4");
  }

  @Test
  void finishedTasksAreDeliveredAfterCancellation() {
    assertThat(run(PIECES, 3)).isFalse();
    assertThat(heard).contains("0: 9").doesNotContain("1: 1");
  }

  @Test
  void rejectionReachesTheCaller() {
    assertThatThrownBy(() -> run(List.of(new Square(-1)), 9))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("of is -1; expected at least 0");
  }

  /** Waits until another task has started too. */
  private record Met(CountDownLatch together, int of) implements LabTask<Integer> {
    @Override
    public String name() {
      return "piece " + of;
    }

    @Override
    public double cost() {
      return 1;
    }

    @Override
    public boolean singleThreaded() {
      return true;
    }

    @Override
    public Integer run(WorkerContext context, ProgressListener listener) {
      together.countDown();
      try {
        assertThat(together.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      WorkCancelledException.reportOrThrow(listener, 1, 1);
      return of;
    }
  }

  @Test
  void singleThreadedTasksRunInParallelAndReportOnTheCallingThread() {
    CountDownLatch together = new CountDownLatch(2);
    Thread caller = Thread.currentThread();
    boolean whole =
        new LocalRunner(WorkerContext.empty(2))
            .run(
                List.of(new Met(together, 7), new Met(together, 8)),
                (done, total) -> assertThat(Thread.currentThread()).isSameAs(caller),
                (index, result) -> heard.add(index + ": " + result));
    assertThat(whole).isTrue();
    assertThat(heard).containsExactlyInAnyOrder("0: 7", "1: 8");
  }
}
