package dev.kvasir.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Keeps the process alive when the bytes of a mapped file cannot be read, because the file was
 * truncated or its disk failed. Java code gets an {@link InternalError} then, but a native function
 * ends the process. With a guard, both read zeros, and {@link #faults} tells that they did.
 *
 * <p>A module provides it for its platforms through {@link java.util.ServiceLoader}. Thread-safe.
 */
public interface MappingGuard {
  /** Protects a mapped file until its arena is closed. */
  void protect(MemorySegment mapped, Arena arena);

  /** Returns how often a read has failed so far. */
  long faults();

  /** Returns whether no read of a file that is mapped into this arena has failed. */
  boolean isIntact(Arena arena);
}
