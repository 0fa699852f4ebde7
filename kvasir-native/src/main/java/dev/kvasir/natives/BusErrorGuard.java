package dev.kvasir.natives;

import dev.kvasir.memory.MappingGuard;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Protects mapped files on Linux by a handler of the signal SIGBUS, in a library of its own. The
 * library is loaded with the first mapping; where it cannot be, nothing is protected.
 *
 * <pre>
 * entry of the table: u64 begin | u64 end, 0 if it is free | u64 1 if a read has failed
 * </pre>
 */
@SuppressWarnings("restricted") // calls a native function, and is told when an arena is closed
public final class BusErrorGuard implements MappingGuard {
  /** Somewhat more than the blocks of a store that may stay mapped. Others are not protected. */
  private static final int ENTRIES = 20_000;

  private static final long BEGIN = 0;
  private static final long END = Long.BYTES;
  private static final long DAMAGED = 2 * Long.BYTES;
  private static final long ENTRY_BYTES = 3 * Long.BYTES;
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment table = Arena.global().allocate(ENTRIES * ENTRY_BYTES, Long.BYTES);
  private final MemorySegment faults = Arena.global().allocate(ValueLayout.JAVA_LONG);
  private final Map<Integer, WeakReference<Arena>> arenas = new HashMap<>(); // by entry
  private final Deque<Integer> freed = new ArrayDeque<>();
  private final boolean isInstalled;
  private int used; // entries that have been in use

  /** Called by the service loader. */
  public BusErrorGuard() {
    isInstalled = install();
  }

  private boolean install() {
    try {
      Platform platform = Platform.ofThisProcess();
      if (platform.guardLibrary().isEmpty()) {
        return false;
      }
      FunctionDescriptor type =
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS);
      long error =
          (long)
              NativeLibrary.load(platform.guardLibrary().get())
                  .function("kvasir_guard_install", type)
                  .invokeExact(table, (long) ENTRIES, faults);
      return error == 0;
    } catch (NativeUnavailableException e) {
      return false;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void protect(MemorySegment mapped, Arena arena) {
    if (!isInstalled || mapped.byteSize() == 0) {
      return;
    }
    int entry = take(arena);
    if (entry >= 0) {
      set(entry, BEGIN, mapped.address());
      set(entry, DAMAGED, 0);
      set(entry, END, mapped.address() + mapped.byteSize());
      mapped.reinterpret(mapped.byteSize(), arena, closed -> free(entry));
    }
  }

  private synchronized int take(Arena arena) {
    Integer entry = freed.poll();
    if (entry == null) {
      entry = used < ENTRIES ? used++ : -1;
    }
    if (entry >= 0) {
      arenas.put(entry, new WeakReference<>(arena));
    }
    return entry;
  }

  private synchronized void free(int entry) {
    set(entry, END, 0);
    arenas.remove(entry);
    freed.push(entry);
  }

  private void set(int entry, long field, long value) {
    WORD.setVolatile(table, entry * ENTRY_BYTES + field, value);
  }

  @Override
  public long faults() {
    return (long) WORD.getVolatile(faults, 0L);
  }

  @Override
  public boolean isIntact(Arena arena) {
    return faults() == 0 || !isDamaged(arena);
  }

  private synchronized boolean isDamaged(Arena arena) {
    return arenas.entrySet().stream()
        .filter(entry -> entry.getValue().refersTo(arena))
        .anyMatch(
            entry -> (long) WORD.getVolatile(table, entry.getKey() * ENTRY_BYTES + DAMAGED) != 0);
  }
}
