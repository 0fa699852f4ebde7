package dev.kvasir.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.WeakHashMap;

/**
 * The mapped files of this process and its {@link MappingGuard}. The guard is loaded for the first
 * file that stays mapped while a model runs, since that takes 20 milliseconds. What was computed
 * while {@link #faults} changed must be dropped. Thread-safe.
 */
public final class ProtectedMappings {
  private static final Map<Arena, List<MemorySegment>> MAPPED =
      Collections.synchronizedMap(new WeakHashMap<>());

  private static volatile MappingGuard guard; // null until it is needed

  private ProtectedMappings() {}

  /** Protects nothing, where no module has a guard. */
  private static final class NoGuard implements MappingGuard {
    @Override
    public void protect(MemorySegment mapped, Arena arena) {}

    @Override
    public long faults() {
      return 0;
    }

    @Override
    public boolean isIntact(Arena arena) {
      return true;
    }
  }

  private static synchronized MappingGuard guard() {
    if (guard == null) {
      guard =
          ServiceLoader.load(MappingGuard.class, MappingGuard.class.getClassLoader())
              .findFirst()
              .orElseGet(NoGuard::new);
    }
    return guard;
  }

  /** Remembers a mapped file, for {@link #protect(Arena)}. */
  public static void add(MemorySegment mapped, Arena arena) {
    MAPPED.computeIfAbsent(arena, any -> new ArrayList<>()).add(mapped);
  }

  /** Protects the files that are mapped into an arena, until it is closed. */
  public static void protect(Arena arena) {
    MAPPED.getOrDefault(arena, List.of()).forEach(mapped -> guard().protect(mapped, arena));
  }

  /** Protects a mapped file until its arena is closed. */
  static void protect(MemorySegment mapped, Arena arena) {
    guard().protect(mapped, arena);
  }

  /** Returns how often a read of a protected file has failed. */
  public static long faults() {
    MappingGuard known = guard;
    return known == null ? 0 : known.faults();
  }

  /** Returns whether no read of the protected files of an arena has failed. */
  public static boolean isIntact(Arena arena) {
    MappingGuard known = guard;
    return known == null || known.isIntact(arena);
  }
}
