package dev.kvasir.codec;

import dev.kvasir.memory.CountedArena;
import java.lang.foreign.SegmentAllocator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * What methods make once for a model and all its sequences share: codebooks as attention reads
 * them. They belong to the model and go with it; to read their memory after that is an error.
 */
public final class ModelTables implements AutoCloseable {
  private final CountedArena arena = new CountedArena();
  private final Map<Object, Object> tables = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * A table, made for the first who asks.
   *
   * @param key tells it from all others: what it was made of
   * @param make takes its memory from what it is given
   */
  public <T> T getOrCreate(Object key, Class<T> type, Function<SegmentAllocator, T> make) {
    if (closed) {
      throw new IllegalStateException("the model of this cache is closed");
    }
    Object known = tables.get(key);
    return type.cast(known != null ? known : tables.computeIfAbsent(key, k -> make.apply(arena)));
  }

  /** What all tables take outside the heap. */
  public long bytes() {
    return arena.bytes();
  }

  @Override
  public void close() {
    closed = true;
    tables.clear();
    arena.close();
  }
}
