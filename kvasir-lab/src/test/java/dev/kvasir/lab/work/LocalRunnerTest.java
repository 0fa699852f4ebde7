package dev.kvasir.lab.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LocalRunnerTest {
  private record Square(int of) implements Piece<Integer> {
    @Override
    public String name() {
      return "the square of " + of;
    }

    @Override
    public double work() {
      return of;
    }

    @Override
    public Integer run(Worksite site, WorkListener listener) {
      if (of < 0) {
        throw new InvalidInputException("of is %d; expected at least 0".formatted(of));
      }
      Stopped.unlessWanted(listener, 0.5 * of, of);
      Stopped.unlessWanted(listener, of, of);
      return of * of;
    }
  }

  private static final List<Square> PIECES = List.of(new Square(3), new Square(1), new Square(2));

  private final List<String> heard = new ArrayList<>();

  private boolean run(List<Square> pieces, int most) {
    WorkListener listener =
        new WorkListener() {
          private int steps;

          @Override
          public void progress(double done, double inAll) {
            heard.add(done + " of " + inAll);
            steps++;
          }

          @Override
          public void doing(String what) {
            heard.add(what);
          }

          @Override
          public boolean stopped() {
            return steps >= most;
          }
        };
    return new LocalRunner(null)
        .run(pieces, listener, (piece, result) -> heard.add(piece + ": " + result));
  }

  @Test
  void piecesRunInTheirOrderAndTheirProgressIsThatOfAll() {
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
  void whereItIsStoppedFinishedPiecesAreDelivered() {
    assertThat(run(PIECES, 3)).isFalse();
    assertThat(heard).contains("0: 9").doesNotContain("1: 1");
  }

  @Test
  void aRefusalOfAPieceReachesTheCaller() {
    assertThatThrownBy(() -> run(List.of(new Square(-1)), 9))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("of is -1; expected at least 0");
  }

  /** Waits until another one has begun too. */
  private record Met(CountDownLatch together, int of) implements Piece<Integer> {
    @Override
    public String name() {
      return "piece " + of;
    }

    @Override
    public double work() {
      return 1;
    }

    @Override
    public boolean single() {
      return true;
    }

    @Override
    public Integer run(Worksite site, WorkListener listener) {
      together.countDown();
      try {
        assertThat(together.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      Stopped.unlessWanted(listener, 1, 1);
      return of;
    }
  }

  @Test
  void piecesOfOneThreadRunSideBySideAndAreHeardOnTheCallersThread() {
    CountDownLatch together = new CountDownLatch(2);
    Thread caller = Thread.currentThread();
    boolean whole =
        new LocalRunner(Worksite.empty(2))
            .run(
                List.of(new Met(together, 7), new Met(together, 8)),
                (done, inAll) -> assertThat(Thread.currentThread()).isSameAs(caller),
                (piece, result) -> heard.add(piece + ": " + result));
    assertThat(whole).isTrue();
    assertThat(heard).containsExactlyInAnyOrder("0: 7", "1: 8");
  }
}
