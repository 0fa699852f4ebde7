package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedMapping;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The cache of a sequence in a model with recurrent layers: the keys and values of its attention
 * layers, and the {@link RecurrentStates} of the others. The two always have the same length.
 */
final class HybridCache implements KvCache {
  private static final int KIND = 1;

  private final PagedCache pages;
  private final RecurrentStates states;
  private final Optional<RecurrentStates> found;

  /**
   * @param hasBudget whether the pages have a budget, in which states count
   */
  HybridCache(PagedCache pages, CacheShape shape, MemoryPool pool, boolean hasBudget) {
    this(pages, new RecurrentStates(shape, pool, hasBudget));
  }

  private HybridCache(PagedCache pages, RecurrentStates states) {
    this.pages = pages;
    this.states = states;
    this.found = Optional.of(states);
  }

  @Override
  public Optional<RecurrentStates> states() {
    return found;
  }

  @Override
  public void reserve(int length) {
    try {
      states.reserve();
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "the recurrent states after %d tokens cannot be held: %s"
              .formatted(length(), e.getMessage()));
    }
    pages.reserve(length);
  }

  @Override
  public void commit(int positions) {
    pages.commit(positions);
    states.commit(pages.length());
  }

  @Override
  public void checkpoint(Checkpoint kind) {
    states.checkpoint(kind);
  }

  @Override
  public int retainable(int length) {
    int retained = states.retainable(pages.retainable(length));
    return pages.retainable(retained);
  }

  /** {@inheritDoc} Pages may drop more than asked for; the states then go back further, too. */
  @Override
  public void truncate(int length) {
    pages.truncate(retainable(length));
    while (states.retainable(pages.length()) != pages.length()) {
      pages.truncate(states.retainable(pages.length()));
    }
    states.truncate(pages.length());
  }

  @Override
  public KvCache fork() {
    PagedCache fork = pages.fork();
    return new HybridCache(fork, states.fork());
  }

  @Override
  public void copyStates(KvCache from) {
    states.copyFrom(from.states().orElseThrow());
  }

  @Override
  public CacheBytes bytes() {
    return pages.bytes().withStates(states.bytes());
  }

  @Override
  public void close() {
    pages.close();
    states.close();
  }

  @Override
  public CacheSnapshot snapshot() {
    return new WithStates(pages.snapshot());
  }

  /** A snapshot whose residual part contains the states. */
  private final class WithStates extends DelegatingSnapshot {
    WithStates(CacheSnapshot pages) {
      super(pages);
    }

    @Override
    public byte[] residual() {
      byte[] residual = super.residual();
      return SnapshotHeader.STATES.wrap(
          KIND,
          Integer.BYTES + residual.length + states.serializedBytes(),
          out -> {
            out.putInt(residual.length).put(residual);
            states.write(out);
          });
    }
  }

  /** Restores a stored sequence, which continues bit-identically. */
  static HybridCache restore(
      CacheShape shape, CacheConfig config, MemoryPool pool, CacheSnapshot snapshot) {
    return SnapshotHeader.STATES.unwrap(
        snapshot.residualToRead(),
        KIND,
        in -> {
          CacheSnapshot withoutStates = new WithoutStates(snapshot, residual(in));
          return restore(shape, config, pool, withoutStates, in);
        });
  }

  private static Snapshot residual(ByteBuffer in) {
    int size = in.getInt();
    if (size < 0 || size > in.remaining()) {
      throw SnapshotHeader.STATES.invalid("breaks off in the midst of what it says of itself");
    }
    return Snapshot.nested(in, size);
  }

  private static HybridCache restore(
      CacheShape shape,
      CacheConfig config,
      MemoryPool pool,
      CacheSnapshot snapshot,
      ByteBuffer states) {
    PagedCache pages = PagedCache.restore(shape, config, pool, snapshot);
    try {
      boolean hasBudget = config.budget().isPresent();
      return new HybridCache(
          pages, RecurrentStates.read(shape, pool, hasBudget, pages.length(), states));
    } catch (MemoryFullException e) {
      int length = pages.length();
      pages.close();
      throw new CacheFullException(
          "the states of a stored sequence of %d tokens cannot be held: %s"
              .formatted(length, e.getMessage()));
    } catch (RuntimeException | Error e) {
      pages.close();
      throw e;
    }
  }

  /** A stored snapshot with the residual part of pages alone. */
  private static class WithoutStates extends DelegatingSnapshot {
    private final CacheSnapshot stored;
    private final Snapshot residual;

    WithoutStates(CacheSnapshot stored, Snapshot residual) {
      super(stored);
      this.stored = stored;
      this.residual = residual;
    }

    @Override
    public byte[] residual() {
      return residual.toArray();
    }

    @Override
    public Snapshot residualToRead() {
      return residual;
    }

    @Override
    public Optional<UncheckedSnapshot> unchecked() {
      return stored.unchecked().map(file -> new UncheckedWithoutStates(file, residual));
    }
  }

  /** The same in a mapped file. */
  private static final class UncheckedWithoutStates extends WithoutStates
      implements UncheckedSnapshot {
    private final UncheckedSnapshot stored;

    UncheckedWithoutStates(UncheckedSnapshot stored, Snapshot residual) {
      super(stored, residual);
      this.stored = stored;
    }

    @Override
    public SharedMapping file() {
      return stored.file();
    }

    @Override
    public BlockChecksums checksums() {
      return stored.checksums();
    }
  }

  @Override
  public int length() {
    return pages.length();
  }

  @Override
  public void pin() {
    pages.pin();
  }

  @Override
  public void unpin() {
    pages.unpin();
  }

  @Override
  public List<CacheRun> runs() {
    return pages.runs();
  }

  @Override
  public QuantizationTime quantizationTime() {
    return pages.quantizationTime();
  }

  @Override
  public int capacity() {
    return pages.capacity();
  }

  @Override
  public int stepCapacity(int tokens) {
    return pages.stepCapacity(tokens);
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    pages.append(layer, position, keys, keysAt, values, valuesAt);
  }

  @Override
  public void quantizeWindow() {
    pages.quantizeWindow();
  }

  @Override
  public boolean mustQuantize() {
    return pages.mustQuantize();
  }

  @Override
  public void deferQuantization(boolean deferred) {
    pages.deferQuantization(deferred);
  }

  @Override
  public boolean prefillsOnStoredPages() {
    return pages.prefillsOnStoredPages();
  }

  @Override
  public int maxQueryRows() {
    return pages.maxQueryRows();
  }

  @Override
  public int headsPerPass() {
    return pages.headsPerPass();
  }

  @Override
  public boolean prefillsLike(KvCache other) {
    return other instanceof HybridCache hybrid && pages.prefillsLike(hybrid.pages);
  }

  @Override
  public SequenceObserver observer() {
    return pages.observer();
  }

  @Override
  public int firstRetained(int layer) {
    return pages.firstRetained(layer);
  }

  @Override
  public boolean defersPrompts() {
    return pages.defersPrompts();
  }

  @Override
  public boolean isStateful() {
    return pages.isStateful();
  }

  @Override
  public boolean evicts(int layer) {
    return pages.evicts(layer);
  }

  @Override
  public void evict(int layer, int position) {
    pages.evict(layer, position);
  }

  @Override
  public int blockOf(int position) {
    return pages.blockOf(position);
  }

  @Override
  public int firstPosition(int block) {
    return pages.firstPosition(block);
  }

  @Override
  public BlockView view(int layer, int block) {
    return pages.view(layer, block);
  }
}
