package dev.kvasir.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.KvasirException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Admitted requests keep their reservations; others wait in order. */
class AdmissionTest {
  private static Admission.Permit admit(
      Admission admission, long bytes, Object source, long shared) {
    return admission.admit(
        1, bytes, false, () -> new Admission.Need(1, bytes - shared, source, shared), () -> {});
  }

  @Test
  void reservationsNeverExceedTheLimit() throws Exception {
    Admission admission = new Admission(100, 10, 10);
    Admission.Permit first = admit(admission, 60, null, 0);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    Thread large = later(admission, 70, "large", order);
    waitFor(admission, 1);
    Thread small = later(admission, 40, "small", order);
    waitFor(admission, 2);
    assertThat(admission.reserved()).isEqualTo(60);
    first.close();
    large.join();
    small.join();
    // The small request would have fitted earlier, but order is by arrival.
    assertThat(order).containsExactly("large", "small");
    assertThat(admission.reserved()).isZero();
  }

  private static Thread later(Admission admission, long bytes, String name, List<String> order) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try (Admission.Permit _ = admit(admission, bytes, null, 0)) {
                order.add(name);
              }
            });
  }

  private static void waitFor(Admission admission, int waiting) throws InterruptedException {
    while (admission.queued() < waiting) {
      Thread.sleep(1);
    }
  }

  /** A busy service signals all the time. */
  @Test
  void whoWaitsIsCalledWhileOthersComeAndGo() throws Exception {
    Admission admission = new Admission(100, 10, 10);
    AtomicBoolean called = new AtomicBoolean();
    Admission.Permit first = admission.admit(1, 60, false, () -> need(60), () -> {});
    Thread waits =
        Thread.ofVirtual()
            .start(
                () ->
                    admission.admit(1, 70, false, () -> need(70), () -> called.set(true)).close());
    waitFor(admission, 1);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!called.get() && System.nanoTime() < end) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> admit(admission, 1, null, 0)).hasMessageContaining("closed");
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(called).isTrue();
    first.close();
    waits.join();
  }

  private static Admission.Need need(long bytes) {
    return new Admission.Need(1, bytes, null, 0);
  }

  @Test
  void aSharedPrefixCountsOnce() {
    Admission admission = new Admission(100, 10, 10);
    Object source = new Object();
    Admission.Permit a = admit(admission, 50, source, 40);
    Admission.Permit b = admit(admission, 50, source, 40);
    Admission.Permit c = admit(admission, 50, source, 40);
    assertThat(admission.reserved()).isEqualTo(40 + 3 * 10);
    a.close();
    b.close();
    assertThat(admission.reserved()).isEqualTo(50);
    c.close();
    c.close();
    assertThat(admission.reserved()).isZero();
  }

  /** A request that waits for a store does not delay the next one. */
  @Test
  void aConcurrentOpeningDelaysNobodyAndReleasesSharedBytes() throws Exception {
    Admission admission = new Admission(100, 10, 10);
    Object source = new Object();
    CountDownLatch both = new CountDownLatch(2);
    List<Admission.Permit> permits = Collections.synchronizedList(new ArrayList<>());
    Runnable enter =
        () -> permits.add(admission.admit(1, 50, true, () -> openedWith(both, source), () -> {}));
    Thread first = Thread.ofVirtual().start(enter);
    Thread second = Thread.ofVirtual().start(enter);
    first.join();
    second.join();
    assertThat(admission.reserved()).isEqualTo(40 + 2 * 10);
    permits.forEach(Admission.Permit::close);
    assertThat(admission.reserved()).isZero();
    assertThat(admission.running()).isZero();
  }

  private static Admission.Need openedWith(CountDownLatch others, Object source) {
    others.countDown();
    try {
      others.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return new Admission.Need(1, 10, source, 40);
  }

  @Test
  void aFailedOpeningReleasesItsReservation() {
    Admission admission = new Admission(100, 10, 10);
    Admission.SessionOpener fails =
        () -> {
          throw new IllegalStateException("no");
        };
    assertThatThrownBy(() -> admission.admit(1, 50, true, fails, () -> {}))
        .isInstanceOf(IllegalStateException.class);
    assertThat(admission.reserved()).isZero();
    assertThat(admission.running()).isZero();
  }

  @Test
  void aRequestThatNeverFitsIsRefusedAtOnce() {
    Admission admission = new Admission(100, 4, 10);
    assertThatThrownBy(() -> admit(admission, 101, null, 0))
        .isInstanceOf(KvasirException.class)
        .hasMessage("the prompt and its answer may take 101 bytes of cache; the server has 100");
  }

  @Test
  void tooManyRequestsAreRejected() throws Exception {
    Admission admission = new Admission(100, 1, 1);
    Admission.Permit first = admit(admission, 10, null, 0);
    Thread waits = later(admission, 10, "waits", new ArrayList<>());
    waitFor(admission, 1);
    assertThatThrownBy(() -> admit(admission, 10, null, 0))
        .isInstanceOfSatisfying(
            KvasirException.class,
            e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.BUSY));
    first.close();
    waits.join();
  }

  @Test
  void stoppingRejectsQueuedRequests() throws Exception {
    Admission admission = new Admission(100, 1, 5);
    Admission.Permit first = admit(admission, 10, null, 0);
    CountDownLatch rejected = new CountDownLatch(1);
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                admit(admission, 10, null, 0);
              } catch (KvasirException e) {
                rejected.countDown();
              }
            });
    waitFor(admission, 1);
    admission.stop();
    rejected.await();
    first.close();
  }

  @Test
  void memoryForOpeningIsReservedExclusively() throws Exception {
    Admission admission = new Admission(100, 4, 4);
    Admission.Permit first = admit(admission, 60, null, 0);
    AtomicBoolean opened = new AtomicBoolean();
    Admission.SessionOpener small =
        () -> {
          opened.set(true);
          return new Admission.Need(1, 10, null, 0);
        };
    Thread second =
        Thread.startVirtualThread(() -> admission.admit(1, 50, true, small, () -> {}).close());
    while (admission.queued() == 0) {
      Thread.sleep(5);
    }
    Thread.sleep(50);
    assertThat(opened).isFalse();
    first.close();
    second.join();
    assertThat(opened).isTrue();
  }
}
