package dev.kvasir.server.models;

import dev.kvasir.KvasirException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.models.ModelStatus.State;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
  /** Time between two calls of what a waiting request does. */
  private static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long budget;
  private final int maxWaiting;
  private final Supplier<? extends List<? extends ModelSource<T>>> sources;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, Entry<T>> entries = new LinkedHashMap<>();
  private final Deque<Object> waiting = new ArrayDeque<>(); // tickets of requests
  private int pending; // requests without a lease
  private long used;
  private long uses; // a clock that counts uses
  private long loads;
  private boolean closed;

  private static final class Entry<T> {
    private ModelSource<T> source;
    private State state = State.UNLOADED;
    private T model; // null unless loaded
    private long bytes; // 0 until measured
    private int leases;
    private int requests; // that wait for a lease
    private int promised; // of these, those that wait for the load in progress
    private long lastUse;
    private KvasirException failure; // of the last attempt to load it

    Entry(ModelSource<T> source) {
      this.source = source;
    }

    String name() {
      return source.name();
    }
  }

  /** The right to use a loaded model, which stays loaded until the lease is closed. */
  public final class Lease implements AutoCloseable {
    private final Entry<T> entry;
    private final T model;

    private Lease(Entry<T> entry) {
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
    this.budget = budget;
    this.maxWaiting = maxWaiting;
    this.sources = sources;
    merge(sources.get());
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
      merge(listed);
    } finally {
      lock.unlock();
    }
  }

  private void merge(List<? extends ModelSource<T>> listed) {
    Set<String> names = new HashSet<>();
    for (ModelSource<T> source : listed) {
      names.add(source.name());
      Entry<T> entry = entries.computeIfAbsent(source.name(), any -> new Entry<>(source));
      if (!entry.state.isInMemory()) {
        entry.source = source;
      }
    }
    entries
        .values()
        .removeIf(
            one -> !one.state.isInMemory() && one.requests == 0 && !names.contains(one.name()));
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
    String withoutCache = requested.replaceFirst("@.*", "");
    lock.lock();
    try {
      return entries.containsKey(requested)
          ? Optional.of(requested)
          : Optional.of(withoutCache).filter(entries::containsKey);
    } finally {
      lock.unlock();
    }
  }

  /** Lists all models. */
  public List<ModelStatus> list() {
    refresh();
    lock.lock();
    try {
      return entries.values().stream()
          .map(entry -> new ModelStatus(entry.name(), entry.state, entry.bytes))
          .toList();
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
    Entry<T> entry = requested(name);
    try {
      measure(entry);
      return lease(entry, whileWaiting);
    } finally {
      lock.lock();
      entry.requests--;
      lock.unlock();
    }
  }

  private Lease lease(Entry<T> entry, Runnable whileWaiting) {
    Object ticket = new Object();
    lock.lock();
    try {
      boolean mustWait = entry.state != State.LOADED || !waiting.isEmpty();
      if (mustWait && pending >= maxWaiting) {
        throw new KvasirException(
            KvasirException.Reason.BUSY,
            "%d requests wait for their models; expected fewer".formatted(pending));
      }
      pending++;
      return lease(entry, ticket, whileWaiting);
    } finally {
      pending--;
      waiting.remove(ticket);
      changed.signalAll();
      lock.unlock();
    }
  }

  private Lease lease(Entry<T> entry, Object ticket, Runnable whileWaiting) {
    boolean hasMemory = false; // since the request waits
    long nextCall = System.nanoTime() + CALL_NANOS;
    try {
      while (true) {
        checkOpen();
        boolean isNext = waiting.isEmpty() || waiting.peek() == ticket;
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
          if (waiting.remove(ticket)) {
            changed.signalAll();
          }
        } else if (!hasMemory && !waiting.contains(ticket)) {
          waiting.add(ticket);
        }
        nextCall = pause(nextCall, whileWaiting);
      }
    } finally {
      entry.promised -= hasMemory ? 1 : 0;
    }
  }

  /** Makes the bytes of a model known. Files are read without the lock. */
  private void measure(Entry<T> entry) {
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
  private Entry<T> requested(String name) {
    lock.lock();
    try {
      checkOpen();
      Entry<T> entry = entry(name);
      entry.requests++;
      return entry;
    } finally {
      lock.unlock();
    }
  }

  private Entry<T> entry(String name) {
    lock.lock();
    try {
      Entry<T> entry = entries.get(name);
      if (entry == null) {
        throw new InvalidInputException("the model '%s' has been removed".formatted(name));
      }
      return entry;
    } finally {
      lock.unlock();
    }
  }

  private boolean isInMemory(Entry<T> entry) {
    lock.lock();
    try {
      return entry.state.isInMemory();
    } finally {
      lock.unlock();
    }
  }

  /** Starts to load a model that fits; otherwise starts to unload one if that will help. */
  private void loadOrMakeRoom(Entry<T> entry) {
    long missing = used + entry.bytes - budget;
    if (missing <= 0) {
      entry.state = State.LOADING;
      used += entry.bytes;
      start(() -> load(entry));
      return;
    }
    boolean isUnloading = entries.values().stream().anyMatch(e -> e.state == State.UNLOADING);
    List<Entry<T>> idle = entries.values().stream().filter(this::isUnloadable).toList();
    if (!isUnloading && idle.stream().mapToLong(e -> e.bytes).sum() >= missing) {
      startUnloading(idle.stream().min(Comparator.comparingLong(e -> e.lastUse)).orElseThrow());
    }
  }

  private boolean isUnloadable(Entry<T> entry) {
    return entry.state == State.LOADED
        && entry.leases == 0
        && entry.promised == 0
        && entry.model.isIdle();
  }

  /** Runs on a thread of its own: requests only wait, and a disconnect stops no load. */
  private static void start(Runnable task) {
    Thread.ofPlatform().daemon().name("kvasir-model-loader").start(task);
  }

  private void load(Entry<T> entry) {
    T model = null;
    KvasirException failure = null;
    try {
      model = entry.source.load();
    } catch (KvasirException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure =
          new KvasirException(
              KvasirException.Reason.FAILED, "loading '%s' failed".formatted(entry.name()), e);
    }
    lock.lock();
    boolean isUnwanted = closed && model != null;
    if (!isUnwanted) {
      publish(entry, model, failure);
    }
    lock.unlock();
    if (isUnwanted) {
      model.stop();
      model.close();
      endUnloading(entry);
    }
  }

  private void publish(Entry<T> entry, T model, KvasirException failure) {
    entry.model = model;
    entry.failure = failure;
    entry.state = failure == null ? State.LOADED : State.FAILED;
    entry.lastUse = ++uses;
    used -= failure == null ? 0 : entry.bytes;
    loads += failure == null ? 1 : 0;
    changed.signalAll();
  }

  private void startUnloading(Entry<T> entry) {
    entry.state = State.UNLOADING;
    start(
        () -> {
          try {
            entry.model.stop();
            entry.model.close();
          } finally {
            endUnloading(entry);
          }
        });
  }

  private void endUnloading(Entry<T> entry) {
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
    Entry<T> entry = entry(name);
    lock.lock();
    try {
      checkOpen();
      if (entry.state.isInMemory() && !isUnloadable(entry)) {
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
      return Optional.ofNullable(entries.get(name))
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
      return entries.values().stream()
          .filter(entry -> entry.state == State.LOADED)
          .sorted(Comparator.comparingLong((Entry<T> entry) -> entry.lastUse).reversed())
          .map(Entry::name)
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
      return waiting.size();
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
    return System.nanoTime() + CALL_NANOS;
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

  private List<T> loadedModels() {
    return entries.values().stream()
        .filter(entry -> entry.state == State.LOADED)
        .map(entry -> entry.model)
        .toList();
  }

  /** Frees the models, which have been stopped. */
  @Override
  public void close() {
    List<T> models;
    lock.lock();
    try {
      closed = true;
      while (entries.values().stream()
          .anyMatch(e -> e.state == State.LOADING || e.state == State.UNLOADING)) {
        changed.awaitUninterruptibly();
      }
      models = loadedModels();
    } finally {
      lock.unlock();
    }
    models.forEach(LoadedService::close);
  }
}
