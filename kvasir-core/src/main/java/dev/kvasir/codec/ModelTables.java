package dev.kvasir.codec;

import dev.kvasir.memory.CountedArena;
import java.lang.foreign.SegmentAllocator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Tables that methods create once per model and all its sequences share, such as codebooks. The
 * model owns them. Reading their memory after the model is closed is an error.
 */
public final class ModelTables implements AutoCloseable {
  private final CountedArena arena = new CountedArena();
  private final Map<Object, Object> tables = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * Returns a table, creating it on first use.
   *
   * @param key identifies the table; contains everything it is made of
   * @param make creates the table in the given memory
   */
  public <T> T cached(Object key, Class<T> type, Function<SegmentAllocator, T> make) {
    if (closed) {
      throw new IllegalStateException("the model of this cache is closed");
    }
    Object known = tables.get(key);
    return type.cast(known != null ? known : tables.computeIfAbsent(key, k -> make.apply(arena)));
  }

  /** Returns the native memory used by all tables. */
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
