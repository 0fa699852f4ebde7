package dev.kvasir.server.models;

import dev.kvasir.KvasirException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.models.ModelStatus.State;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The models of a server within one memory budget. The model of a request is loaded when it is not;
 * if memory is short, the least recently used models are unloaded first. A model that is in use
 * stays loaded.
 *
 * <p>Requests whose model has no memory yet wait in order of arrival. Later requests for loaded
 * models queue behind them, since they could otherwise keep their models in use for ever.
 * Thread-safe.
 *
 * @param <T> a loaded model
 */
public final class ModelPool<T extends LoadedService> implements AutoCloseable {
  /** Time that closing waits for models that are being loaded. */
  private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final long callNanos; // between two calls of what a waiting request does
  private final long budget;
  private final Supplier<? extends List<? extends ModelSource<T>>> sources;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ModelCatalog<T> catalog = new ModelCatalog<>();
  private final WaitingLine line;
  private long used;
  private long uses; // a clock that counts uses
  private long loads;
  private boolean closed;

  /** The right to use a loaded model, which stays loaded until the lease is closed. */
  public final class Lease implements AutoCloseable {
    private final PooledModel<T> entry;
    private final T model;

    private Lease(PooledModel<T> entry) {
      this.entry = entry;
      this.model = entry.model;
      entry.leases++;
    }

    public T model() {
      return model;
    }

    @Override
    public void close() {
      lock.lock();
      try {
        entry.leases--;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * @param budget bytes of all loaded models with their KV caches
   * @param maxWaiting most requests that wait for a model at once
   * @param sources lists the models; called again when models may have been added
   */
  public ModelPool(
      long budget, int maxWaiting, Supplier<? extends List<? extends ModelSource<T>>> sources) {
    this(budget, maxWaiting, sources, TimeUnit.SECONDS.toNanos(1));
  }

  /** For tests, which wait for calls of what a waiting request does. */
  ModelPool(
      long budget,
      int maxWaiting,
      Supplier<? extends List<? extends ModelSource<T>>> sources,
      long callNanos) {
    this.callNanos = callNanos;
    this.budget = budget;
    this.line = new WaitingLine(maxWaiting);
    this.sources = sources;
    catalog.merge(sources.get());
  }

  /** Lists the models again. If that fails, those that are known remain. */
  private void refresh() {
    List<? extends ModelSource<T>> listed;
    try {
      listed = sources.get();
    } catch (InvalidInputException e) {
      return;
    }
    lock.lock();
    try {
      catalog.merge(listed);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the name of the model that a request means.
   *
   * @param requested a name, which may select a cache after an {@code @}
   */
  public Optional<String> find(String requested) {
    Optional<String> known = findKnown(requested);
    if (known.isPresent()) {
      return known;
    }
    refresh();
    return findKnown(requested);
  }

  private Optional<String> findKnown(String requested) {
    lock.lock();
    try {
      return catalog.find(requested);
    } finally {
      lock.unlock();
    }
  }

  /** Lists all models. */
  public List<ModelStatus> list() {
    refresh();
    lock.lock();
    try {
      return catalog.all().stream().map(PooledModel::status).toList();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Loads a model if necessary, and keeps it loaded.
   *
   * @param name what {@link #find} has returned
   * @param whileWaiting called about once a second until the model is loaded
   * @throws InvalidInputException if it cannot be loaded or exceeds the budget
   * @throws KvasirException if the pool is closed, or too many requests wait
   */
  public Lease lease(String name, Runnable whileWaiting) {
    PooledModel<T> entry = requested(name);
    try {
      measure(entry);
      return lease(entry, whileWaiting);
    } finally {
      lock.lock();
      entry.requests--;
      lock.unlock();
    }
  }

  private Lease lease(PooledModel<T> entry, Runnable whileWaiting) {
    WaitingLine.Ticket ticket = null;
    lock.lock();
    try {
      ticket = line.admit(entry.state == State.LOADED);
      return lease(entry, ticket, whileWaiting);
    } finally {
      if (ticket != null) {
        line.end(ticket);
      }
      changed.signalAll();
      lock.unlock();
    }
  }

  private Lease lease(PooledModel<T> entry, WaitingLine.Ticket ticket, Runnable whileWaiting) {
    boolean hasMemory = false; // since the request waits
    long nextCall = System.nanoTime() + callNanos;
    try {
      while (true) {
        checkOpen();
        boolean isNext = line.isNext(ticket);
        if (entry.state == State.LOADED && (isNext || hasMemory)) {
          entry.lastUse = ++uses;
          return new Lease(entry);
        }
        if (entry.state == State.FAILED && hasMemory) {
          throw entry.failure;
        }
        if (!entry.state.isInMemory() && isNext) {
          loadOrMakeRoom(entry);
        }
        if (entry.state == State.LOADING && !hasMemory) {
          hasMemory = true;
          entry.promised++;
          if (line.leave(ticket)) {
            changed.signalAll();
          }
        } else if (!hasMemory) {
          line.join(ticket);
        }
        nextCall = pause(nextCall, whileWaiting);
      }
    } finally {
      entry.promised -= hasMemory ? 1 : 0;
    }
  }

  /** Makes the bytes of a model known. Files are read without the lock. */
  private void measure(PooledModel<T> entry) {
    if (isInMemory(entry)) {
      return;
    }
    long bytes = entry.source.bytes();
    if (bytes > budget) {
      throw new InvalidInputException(
          "the model '%s' takes %d bytes with its KV caches; the memory of all models is %d"
              .formatted(entry.name(), bytes, budget));
    }
    lock.lock();
    try {
      entry.bytes = entry.state.isInMemory() ? entry.bytes : bytes;
    } finally {
      lock.unlock();
    }
  }

  /** Returns a model, which stays known until the request has ended. */
  private PooledModel<T> requested(String name) {
    lock.lock();
    try {
      checkOpen();
      PooledModel<T> entry = catalog.require(name);
      entry.requests++;
      return entry;
    } finally {
      lock.unlock();
    }
  }

  private boolean isInMemory(PooledModel<T> entry) {
    lock.lock();
    try {
      return entry.state.isInMemory();
    } finally {
      lock.unlock();
    }
  }

  /** Starts to load a model that fits; otherwise starts to unload one if that will help. */
  private void loadOrMakeRoom(PooledModel<T> entry) {
    long missing = used + entry.bytes - budget;
    if (missing <= 0) {
      entry.state = State.LOADING;
      used += entry.bytes;
      try {
        start(() -> load(entry));
      } catch (RuntimeException | Error e) {
        publish(entry, null, failed(entry, e));
        throw entry.failure;
      }
      return;
    }
    boolean isUnloading = catalog.all().stream().anyMatch(e -> e.state == State.UNLOADING);
    List<PooledModel<T>> idle = catalog.all().stream().filter(PooledModel::isUnloadable).toList();
    if (!isUnloading && idle.stream().mapToLong(e -> e.bytes).sum() >= missing) {
      startUnloading(idle.stream().min(Comparator.comparingLong(e -> e.lastUse)).orElseThrow());
    }
  }

  /** Runs on a thread of its own: requests only wait, and a disconnect stops no load. */
  private static void start(Runnable task) {
    Thread.ofPlatform().daemon().name("kvasir-model-loader").start(task);
  }

  private void load(PooledModel<T> entry) {
    T model = null;
    KvasirException failure = null;
    try {
      model = entry.source.load();
    } catch (KvasirException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = failed(entry, e);
    }
    lock.lock();
    boolean isUnwanted = closed && model != null;
    if (!isUnwanted) {
      publish(entry, model, failure);
    }
    lock.unlock();
    if (isUnwanted) {
      end(model, entry);
    }
  }

  private KvasirException failed(PooledModel<T> entry, Throwable cause) {
    return new KvasirException(
        KvasirException.Reason.FAILED, "loading '%s' failed".formatted(entry.name()), cause);
  }

  /** Frees a model, even if what it does cannot be stopped in order. */
  private void end(T model, PooledModel<T> entry) {
    try {
      model.stop();
    } finally {
      try {
        model.close();
      } finally {
        endUnloading(entry);
      }
    }
  }

  private void publish(PooledModel<T> entry, T model, KvasirException failure) {
    entry.model = model;
    entry.failure = failure;
    entry.state = failure == null ? State.LOADED : State.FAILED;
    entry.lastUse = ++uses;
    used -= failure == null ? 0 : entry.bytes;
    loads += failure == null ? 1 : 0;
    changed.signalAll();
  }

  private void startUnloading(PooledModel<T> entry) {
    entry.state = State.UNLOADING;
    try {
      start(() -> end(entry.model, entry));
    } catch (RuntimeException | Error e) {
      entry.state = State.LOADED;
      throw e;
    }
  }

  private void endUnloading(PooledModel<T> entry) {
    lock.lock();
    try {
      entry.model = null;
      entry.state = State.UNLOADED;
      used -= entry.bytes;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Unloads a model; returns false if it is in use. */
  public boolean unload(String name) {
    lock.lock();
    try {
      PooledModel<T> entry = catalog.require(name);
      checkOpen();
      if (entry.state.isInMemory() && !entry.isUnloadable()) {
        return false;
      }
      if (entry.state == State.LOADED) {
        startUnloading(entry);
      }
      while (entry.state == State.UNLOADING) {
        changed.awaitUninterruptibly();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns a lease of a model that is loaded; this does not count as a use. */
  public Optional<Lease> leaseIfLoaded(String name) {
    lock.lock();
    try {
      return catalog
          .get(name)
          .filter(entry -> entry.state == State.LOADED && !closed)
          .map(Lease::new);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the names of the loaded models, the most recently used first. */
  public List<String> loaded() {
    lock.lock();
    try {
      return catalog.all().stream()
          .filter(entry -> entry.state == State.LOADED)
          .sorted(Comparator.comparingLong((PooledModel<T> entry) -> entry.lastUse).reversed())
          .map(PooledModel::name)
          .toList();
    } finally {
      lock.unlock();
    }
  }

  public long budget() {
    return budget;
  }

  /** Returns the bytes of the models in memory with their KV caches. */
  public long used() {
    lock.lock();
    try {
      return used;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the requests whose models have no memory yet. */
  int queued() {
    lock.lock();
    try {
      return line.length();
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many times a model was loaded. */
  public long loads() {
    lock.lock();
    try {
      return loads;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for a change, or until the callback is due, for which the lock is free.
   *
   * @return when the callback is due next
   */
  private long pause(long nextCall, Runnable whileWaiting) {
    try {
      if (changed.awaitNanos(nextCall - System.nanoTime()) > 0) {
        return nextCall;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw closedException();
    }
    lock.unlock();
    try {
      whileWaiting.run();
    } finally {
      lock.lock();
    }
    return System.nanoTime() + callNanos;
  }

  private void checkOpen() {
    if (closed) {
      throw closedException();
    }
  }

  private static KvasirException closedException() {
    return new KvasirException(KvasirException.Reason.CLOSED, "the server is shutting down");
  }

  /**
   * Refuses further leases, and ends what is in progress. The models stay in memory, but for those
   * that are being loaded.
   */
  public void stop() {
    List<T> models;
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      models = loadedModels();
    } finally {
      lock.unlock();
    }
    // Each waits for its clients and its store.
    models.parallelStream().forEach(LoadedService::stop);
  }

  private void awaitChanging() {
    long end = System.nanoTime() + CLOSE_NANOS;
    try {
      while (catalog.all().stream()
              .anyMatch(e -> e.state == State.LOADING || e.state == State.UNLOADING)
          && changed.awaitNanos(end - System.nanoTime()) > 0) {}
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private List<T> loadedModels() {
    return catalog.all().stream()
        .filter(entry -> entry.state == State.LOADED)
        .map(entry -> entry.model)
        .toList();
  }

  /**
   * Frees the models, which have been stopped. Waits a while for those that are being loaded, less
   * if it is interrupted; after that, their threads free them.
   */
  @Override
  public void close() {
    List<T> models;
    lock.lock();
    try {
      closed = true;
      awaitChanging();
      models = loadedModels();
    } finally {
      lock.unlock();
    }
    models.forEach(LoadedService::close);
  }
}
