package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.Preemption;
import dev.kvasir.kernel.WorkerPool;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tasks on a simulated machine of one processor, where a part takes a known time. */
class PreemptibleWorkersTest {
  private static final long PART = 10;

  private long now;
  private final WorkerPool pool = new WorkerPool(1);
  private final PreemptibleWorkers workers = new PreemptibleWorkers(pool, () -> now);
  private final List<Integer> done = new ArrayList<>(); // -1 for other work
  private final WorkerPool.ParallelTask task =
      (part, worker) -> {
        done.add(part);
        now += PART;
      };

  /** Other work that is due so long after it ran last, and takes no time. */
  private final class Others implements Preemption {
    private final long interval;
    private final boolean isReady;
    private long last = now;
    private long longestWait;
    private long longestPart;

    Others(long interval, boolean isReady) {
      this.interval = interval;
      this.isReady = isReady;
    }

    @Override
    public long nanosLeft() {
      return last + interval - now;
    }

    @Override
    public boolean runOthers() {
      if (isReady) {
        longestWait = Math.max(longestWait, now - last);
        last = now;
        done.add(-1);
      }
      return isReady;
    }

    @Override
    public void finished(long nanos) {
      longestPart = nanos;
    }
  }

  private static List<Integer> parts(int count) {
    return IntStream.range(0, count).boxed().toList();
  }

  private List<Integer> partsDone() {
    return done.stream().filter(part -> part >= 0).toList();
  }

  @Test
  void withoutOtherWorkATaskRunsAtOnce() {
    workers.run(task, 7);
    assertThat(done).isEqualTo(parts(7));
  }

  @Test
  void everyPartRunsOnceAndOtherWorkWhenItIsDue() {
    Others others = new Others(4 * PART, true);
    workers.preemption(others);
    for (int i = 0; i < 20; i++) {
      workers.run(task, 10);
    }
    assertThat(partsDone()).hasSize(200);
    assertThat(done.stream().filter(part -> part < 0).count()).isBetween(48L, 51L);
    assertThat(others.longestWait).isLessThanOrEqualTo(4 * PART);
  }

  @Test
  void aTaskProgressesAlsoWhereOtherWorkIsAlwaysDue() {
    Others others = new Others(0, true);
    workers.preemption(others);
    workers.run(task, 20);
    assertThat(partsDone()).isEqualTo(parts(20));
    assertThat(others.longestWait).isEqualTo(PART);
  }

  @Test
  void aTaskGoesOnWhileOtherWorkIsNotReady() {
    workers.preemption(new Others(2 * PART, false));
    workers.run(task, 20);
    assertThat(done).isEqualTo(parts(20));
  }

  @Test
  void theLongestPartIsKnown() {
    workers.preemption(new Others(100 * PART, true));
    workers.run(task, 20);
    workers.run((part, worker) -> now += 3 * PART, 2);
    assertThat(workers.longestNanos()).isEqualTo(3 * PART);
    workers.preemption(null);
    assertThat(workers.longestNanos()).isZero();
  }
}
