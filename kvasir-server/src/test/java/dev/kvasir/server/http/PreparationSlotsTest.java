package dev.kvasir.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that few long requests are prepared at once, and that short ones do not wait for them. */
class PreparationSlotsTest {
  private static final int LONG = PreparationSlots.LONG;

  private final PreparationSlots slots = new PreparationSlots(2);

  @Test
  void noMoreLongOnesAtOnceThanSlots() throws Exception {
    AtomicInteger current = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        int number = i;
        all.add(
            threads.submit(
                () ->
                    slots.run(
                        LONG,
                        () -> {
                          most.accumulateAndGet(current.incrementAndGet(), Math::max);
                          Thread.yield();
                          current.decrementAndGet();
                          return number;
                        })));
      }
      for (int i = 0; i < all.size(); i++) {
        assertThat(all.get(i).get()).isEqualTo(i);
      }
    }
    assertThat(most.get()).isBetween(1, 2);
  }

  @Test
  void aShortOneDoesNotWait() throws Exception {
    CountDownLatch held = new CountDownLatch(2);
    CountDownLatch shortOneIsDone = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Boolean>> longOnes = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        longOnes.add(
            threads.submit(
                () ->
                    slots.run(
                        LONG,
                        () -> {
                          held.countDown();
                          return isReached(shortOneIsDone);
                        })));
      }
      held.await();
      assertThat(slots.run(LONG - 1, () -> "done")).isEqualTo("done");
      shortOneIsDone.countDown();
      for (Future<Boolean> one : longOnes) {
        assertThat(one.get()).isTrue();
      }
    }
  }

  private static boolean isReached(CountDownLatch latch) {
    try {
      latch.await();
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Test
  void aFailureFreesItsSlot() {
    for (int i = 0; i < 5; i++) {
      assertThatThrownBy(() -> slots.run(LONG, PreparationSlotsTest::fail))
          .hasMessage("not a request");
    }
    assertThat(slots.run(LONG, () -> 1)).isEqualTo(1);
  }

  private static int fail() {
    throw new IllegalArgumentException("not a request");
  }
}
