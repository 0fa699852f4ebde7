package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerPoolTest {
  private static final int MOST_PARTS = (1 << 20) - 1;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void everyPartIsDoneExactlyOnce(int size) {
    try (WorkerPool workers = new WorkerPool(size)) {
      assertThat(workers.size()).isEqualTo(size);
      for (int parts : new int[] {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 100, 1000}) {
        assertThat(timesDone(workers, parts)).as("%d parts", parts).isEqualTo(ones(parts));
      }
    }
  }

  @Test
  void asManyPartsAsATicketCanCountAreDone() {
    try (WorkerPool workers = new WorkerPool(2)) {
      AtomicInteger done = new AtomicInteger();
      workers.run((part, worker) -> done.incrementAndGet(), MOST_PARTS);
      assertThat(done).hasValue(MOST_PARTS);
      assertThatThrownBy(() -> workers.run((part, worker) -> {}, MOST_PARTS + 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("parts is 1048576; expected at most 1048575");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void thousandsOfTasksFollowEachOther(int size) {
    int[] sums = new int[7];
    int rounds = 5_000;
    try (WorkerPool workers = new WorkerPool(size)) {
      for (int round = 0; round < rounds; round++) {
        // Plain writes: the results of a task must be visible to the workers of the next one.
        workers.run((part, worker) -> sums[part]++, sums.length);
      }
    }
    assertThat(sums).containsOnly(rounds);
  }

  @Test
  void noTwoPartsShareAWorkerAtTheSameTime() {
    int size = 4;
    AtomicIntegerArray inside = new AtomicIntegerArray(size);
    AtomicInteger clashes = new AtomicInteger();
    try (WorkerPool workers = new WorkerPool(size)) {
      for (int round = 0; round < 200; round++) {
        workers.run(
            (part, worker) -> {
              clashes.addAndGet(inside.getAndIncrement(worker));
              Thread.onSpinWait();
              inside.getAndDecrement(worker);
            },
            50);
      }
    }
    assertThat(clashes).hasValue(0);
  }

  @Test
  void twoCallersAtOnceBothGetAllTheirParts() throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (WorkerPool workers = new WorkerPool(3)) {
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        callers.add(
            Thread.ofPlatform()
                .uncaughtExceptionHandler((thread, e) -> failure.set(e))
                .start(
                    () -> {
                      for (int round = 0; round < 2_000; round++) {
                        assertThat(timesDone(workers, 9)).containsOnly(1);
                      }
                    }));
      }
      for (Thread caller : callers) {
        caller.join();
      }
    }
    assertThat(failure.get()).isNull();
  }

  @Test
  void aPartMayRunATaskOfItsOwn() {
    try (WorkerPool workers = new WorkerPool(3)) {
      AtomicInteger done = new AtomicInteger();
      workers.run((part, worker) -> workers.run((p, w) -> done.incrementAndGet(), 5), 7);
      assertThat(done).hasValue(35);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void whatAPartThrowsReachesTheCallerAndThePoolWorksOn(int size) {
    try (WorkerPool workers = new WorkerPool(size)) {
      for (int bad = 0; bad < 20; bad++) {
        int badPart = bad;
        IllegalStateException exception = new IllegalStateException("part " + bad);
        assertThatThrownBy(() -> workers.run(failing(badPart, exception), 20)).isSameAs(exception);
        assertThat(timesDone(workers, 20)).containsOnly(1);
      }
      Error error = new AssertionError("an error too");
      assertThatThrownBy(() -> workers.run(failing(0, error), 4)).isSameAs(error);
    }
  }

  private static WorkerPool.ParallelTask failing(int badPart, Throwable failure) {
    return (part, worker) -> {
      if (part == badPart) {
        switch (failure) {
          case RuntimeException e -> throw e;
          case Error e -> throw e;
          default -> throw new IllegalArgumentException(failure);
        }
      }
    };
  }

  @Test
  void workersSleepWhenIdleAndWakeForTheNextTask() {
    Set<Thread> before = workers();
    try (WorkerPool workers = new WorkerPool(3)) {
      Set<Thread> ours = workers();
      ours.removeAll(before);
      assertThat(ours).hasSize(2);
      for (int round = 0; round < 20; round++) {
        while (!ours.stream().allMatch(thread -> thread.getState() == Thread.State.WAITING)) {
          LockSupport.parkNanos(100_000);
        }
        // Three parts that wait for each other need the caller and both sleepers.
        AtomicInteger arrived = new AtomicInteger();
        workers.run(
            (part, worker) -> {
              arrived.incrementAndGet();
              while (arrived.get() < 3) {
                Thread.onSpinWait();
              }
            },
            3);
        assertThat(arrived).hasValue(3);
      }
    }
  }

  @Test
  void closingEndsTheThreads() throws InterruptedException {
    Set<Thread> before = workers();
    WorkerPool workers = new WorkerPool(4);
    Set<Thread> ours = workers();
    ours.removeAll(before);
    assertThat(ours).hasSize(3).allMatch(Thread::isDaemon);
    workers.close();
    for (Thread thread : ours) {
      thread.join();
    }
    // A step that was in progress when another thread closed the pool still completes.
    assertThat(timesDone(workers, 10)).containsOnly(1);
    workers.close();
  }

  @Test
  void aPoolWithoutThreadsIsRefused() {
    assertThatThrownBy(() -> new WorkerPool(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("size is 0; expected at least 1");
  }

  private static int[] ones(int count) {
    int[] ones = new int[count];
    Arrays.fill(ones, 1);
    return ones;
  }

  private static int[] timesDone(WorkerPool workers, int parts) {
    AtomicIntegerArray times = new AtomicIntegerArray(parts);
    workers.run(
        (part, worker) -> {
          assertThat(worker).isBetween(0, workers.size() - 1);
          times.incrementAndGet(part);
        },
        parts);
    int[] counts = new int[parts];
    for (int i = 0; i < parts; i++) {
      counts[i] = times.get(i);
    }
    return counts;
  }

  private static Set<Thread> workers() {
    Set<Thread> found = new HashSet<>(Thread.getAllStackTraces().keySet());
    found.removeIf(thread -> !thread.getName().startsWith("kvasir-worker-"));
    return found;
  }
}
