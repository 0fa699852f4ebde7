package dev.kvasir.server.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.KvasirException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.models.ModelStatus.State;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Models that are only names and sizes. */
@Timeout(60)
class ModelPoolTest {
  private static final Runnable NOTHING = () -> {};
  private static final int MOST_WAITING = 8;
  private static final long CALL_NANOS = 1_000_000;

  private final List<String> events = new CopyOnWriteArrayList<>();
  private final List<TestSource> sources = new ArrayList<>();
  private volatile boolean failsToStop;
  private volatile boolean busy; // whether models have responses in the background

  private final class TestModel implements LoadedService {
    private final String name;

    TestModel(String name) {
      this.name = name;
    }

    @Override
    public boolean isIdle() {
      return !busy;
    }

    @Override
    public void stop() {
      if (failsToStop) {
        throw new IllegalStateException("the store is gone");
      }
    }

    @Override
    public void close() {
      events.add("unload " + name);
    }
  }

  private final class TestSource implements ModelSource<TestModel> {
    private final String name;
    private final long bytes;
    private final CountDownLatch mayLoad = new CountDownLatch(1);
    private RuntimeException failure;

    TestSource(String name, long bytes) {
      this.name = name;
      this.bytes = bytes;
      sources.add(this);
    }

    TestSource loadable() {
      mayLoad.countDown();
      return this;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long bytes() {
      return bytes;
    }

    @Override
    public TestModel load() {
      try {
        mayLoad.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      if (failure != null) {
        throw failure;
      }
      events.add("load " + name);
      return new TestModel(name);
    }
  }

  private ModelPool<TestModel> pool(long budget) {
    return new ModelPool<>(budget, MOST_WAITING, () -> sources, CALL_NANOS);
  }

  private void models(String... names) {
    for (String name : names) {
      new TestSource(name, 10).loadable();
    }
  }

  private static void use(ModelPool<TestModel> pool, String name) {
    pool.lease(name, NOTHING).close();
  }

  private static State state(ModelPool<TestModel> pool, String name) {
    return pool.list().stream()
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElseThrow()
        .state();
  }

  @Test
  void theLeastRecentlyUsedModelMakesRoom() {
    models("a", "b", "c");
    ModelPool<TestModel> pool = pool(20);
    use(pool, "a");
    use(pool, "b");
    use(pool, "a");
    use(pool, "c");
    assertThat(events).containsExactly("load a", "load b", "unload b", "load c");
    assertThat(pool.loaded()).containsExactly("c", "a");
    assertThat(pool.used()).isEqualTo(20);
    assertThat(pool.loads()).isEqualTo(3);
  }

  @Test
  void aModelThatDoesNotStopIsFreed() {
    models("a", "b");
    ModelPool<TestModel> pool = pool(10);
    use(pool, "a");
    failsToStop = true;
    use(pool, "b");
    assertThat(events).containsExactly("load a", "unload a", "load b");
    assertThat(pool.used()).isEqualTo(10);
  }

  @Test
  void aPoolWithoutWaitingRequestsLoadsModels() {
    models("a", "b");
    ModelPool<TestModel> pool = new ModelPool<>(20, 0, () -> sources);
    use(pool, "a");
    use(pool, "b");
    assertThat(pool.loaded()).containsExactly("b", "a");
  }

  @Test
  void closingEndsDuringALoadIfItIsInterrupted() throws Exception {
    TestSource slow = new TestSource("slow", 10);
    ModelPool<TestModel> pool = pool(10);
    CountDownLatch waits = new CountDownLatch(1);
    CompletableFuture<Void> request =
        CompletableFuture.runAsync(() -> pool.lease("slow", waits::countDown).close());
    waits.await();
    pool.stop();
    Thread.currentThread().interrupt();
    pool.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThatThrownBy(request::join).hasMessageContaining("shutting down");
    slow.loadable();
    while (pool.used() > 0) {
      Thread.sleep(1);
    }
    assertThat(events).containsExactly("load slow", "unload slow");
  }

  @Test
  void aLeasedModelStaysAndTheRequestWaits() throws Exception {
    models("a", "b");
    ModelPool<TestModel> pool = pool(10);
    ModelPool<TestModel>.Lease first = pool.lease("a", NOTHING);
    CountDownLatch waits = new CountDownLatch(1);
    CompletableFuture<Void> second =
        CompletableFuture.runAsync(() -> pool.lease("b", waits::countDown).close());
    waits.await();
    assertThat(events).containsExactly("load a");
    assertThat(pool.unload("a")).isFalse();
    first.close();
    second.join();
    assertThat(events).containsExactly("load a", "unload a", "load b");
  }

  @Test
  void aModelWithResponsesInTheBackgroundStays() throws Exception {
    models("a", "b");
    ModelPool<TestModel> pool = pool(10);
    use(pool, "a");
    busy = true;
    CountDownLatch waits = new CountDownLatch(1);
    CompletableFuture<Void> second =
        CompletableFuture.runAsync(() -> pool.lease("b", waits::countDown).close());
    waits.await();
    assertThat(state(pool, "a")).isEqualTo(State.LOADED);
    busy = false;
    second.join();
    assertThat(state(pool, "a")).isEqualTo(State.UNLOADED);
  }

  @Test
  void requestsForALoadedModelQueueBehindOneThatWaitsForMemory() throws Exception {
    models("a", "b");
    ModelPool<TestModel> pool = pool(10);
    ModelPool<TestModel>.Lease first = pool.lease("a", NOTHING);
    CountDownLatch waits = new CountDownLatch(2);
    CompletableFuture<Void> second =
        CompletableFuture.runAsync(() -> pool.lease("b", waits::countDown).close());
    while (pool.queued() < 1) {
      Thread.onSpinWait();
    }
    CompletableFuture<Void> third =
        CompletableFuture.runAsync(() -> pool.lease("a", waits::countDown).close());
    waits.await();
    assertThat(third).isNotDone();
    first.close();
    CompletableFuture.allOf(second, third).join();
    assertThat(events).containsExactly("load a", "unload a", "load b", "unload b", "load a");
  }

  @Test
  void requestsForAModelThatIsBeingLoadedShareIt() throws Exception {
    TestSource slow = new TestSource("a", 10);
    models("b");
    ModelPool<TestModel> pool = pool(20);
    CountDownLatch waits = new CountDownLatch(2);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Runnable request = () -> pool.lease("a", waits::countDown).close();
      List<Future<?>> both = List.of(threads.submit(request), threads.submit(request));
      waits.await();
      assertThat(state(pool, "a")).isEqualTo(State.LOADING);
      use(pool, "b"); // others do not wait for it
      slow.loadable();
      for (Future<?> one : both) {
        one.get();
      }
    }
    assertThat(events).containsExactly("load b", "load a");
  }

  @Test
  void aModelThatWasLoadedForARequestIsNotUnloadedBeforeIt() throws Exception {
    TestSource slow = new TestSource("a", 10);
    models("b");
    ModelPool<TestModel> pool = pool(10);
    List<String> served = new CopyOnWriteArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> first = threads.submit(() -> serve(pool, "a", served));
      while (state(pool, "a") != State.LOADING) {
        Thread.onSpinWait();
      }
      Future<?> second = threads.submit(() -> serve(pool, "b", served));
      while (pool.queued() < 1) {
        Thread.onSpinWait();
      }
      slow.loadable();
      first.get();
      second.get();
    }
    assertThat(served).containsExactly("a", "b");
    assertThat(events).containsExactly("load a", "unload a", "load b");
  }

  private static void serve(ModelPool<TestModel> pool, String name, List<String> served) {
    try (ModelPool<TestModel>.Lease _ = pool.lease(name, NOTHING)) {
      served.add(name);
    }
  }

  @Test
  void tooManyRequestsThatWaitAreRefused() throws Exception {
    TestSource slow = new TestSource("a", 10);
    ModelPool<TestModel> pool = pool(10);
    CountDownLatch waits = new CountDownLatch(MOST_WAITING);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < MOST_WAITING; i++) {
        threads.submit(() -> pool.lease("a", waits::countDown).close());
      }
      waits.await();
      for (int i = 0; i < 2; i++) { // a refused request is not one that waited
        assertThatThrownBy(() -> use(pool, "a"))
            .isInstanceOfSatisfying(
                KvasirException.class,
                e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.BUSY));
      }
      slow.loadable();
    }
    use(pool, "a");
  }

  @Test
  void aModelThatIsLoadedAfterTheEndIsFreed() throws Exception {
    TestSource slow = new TestSource("a", 10);
    ModelPool<TestModel> pool = pool(10);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> request = threads.submit(() -> use(pool, "a"));
      while (state(pool, "a") != State.LOADING) {
        Thread.onSpinWait();
      }
      pool.stop(); // does not wait for the load
      assertThatThrownBy(request::get).hasCauseInstanceOf(KvasirException.class);
      slow.loadable();
      pool.close();
    }
    assertThat(events).containsExactly("load a", "unload a");
  }

  @Test
  void whatCannotBeLoadedIsReportedAndTriedAgain() {
    TestSource bad = new TestSource("a", 10).loadable();
    bad.failure = new InvalidInputException("a.gguf: is no model");
    new TestSource("large", 21).loadable();
    ModelPool<TestModel> pool = pool(20);
    assertThatThrownBy(() -> use(pool, "a")).hasMessage("a.gguf: is no model");
    assertThat(state(pool, "a")).isEqualTo(State.FAILED);
    assertThat(pool.used()).isZero();
    bad.failure = new IllegalStateException("a defect");
    assertThatThrownBy(() -> use(pool, "a"))
        .isInstanceOfSatisfying(
            KvasirException.class,
            e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.FAILED));
    bad.failure = null;
    use(pool, "a");
    assertThatThrownBy(() -> use(pool, "large"))
        .hasMessage(
            "the model 'large' takes 21 bytes with its KV caches; the memory of all models is 20");
  }

  @Test
  void newModelsAreFoundAndDeletedOnesLeave() {
    models("a", "b");
    ModelPool<TestModel> pool = pool(20);
    assertThat(pool.find("c")).isEmpty();
    models("c");
    assertThat(pool.find("c@kivi:2")).contains("c");
    use(pool, "c");
    sources.removeIf(source -> !source.name.equals("a"));
    assertThat(pool.list()).extracting(ModelStatus::name).containsExactly("a", "c");
    assertThat(pool.unload("c")).isTrue();
    assertThat(pool.list()).extracting(ModelStatus::name).containsExactly("a");
  }

  @Test
  void aStoppedPoolLendsNothing() {
    models("a");
    ModelPool<TestModel> pool = pool(20);
    use(pool, "a");
    pool.stop();
    assertThat(pool.leaseIfLoaded("a")).isEmpty();
    assertThatThrownBy(() -> use(pool, "a"))
        .isInstanceOfSatisfying(
            KvasirException.class,
            e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.CLOSED));
    pool.close();
    assertThat(events).containsExactly("load a", "unload a");
  }
}
