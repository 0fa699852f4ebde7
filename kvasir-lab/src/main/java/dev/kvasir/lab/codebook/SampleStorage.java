package dev.kvasir.lab.codebook;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Where samples lie while they are needed. */
@FunctionalInterface
public interface SampleStorage {
  /** Memory outside the heap, for as long as a sample is used. */
  SampleStorage MEMORY = (name, bytes) -> Arena.ofAuto().allocate(bytes);

  /**
   * Room for a sample: zero, or as it was left.
   *
   * @param name of the sample among those of one work
   */
  MemorySegment allocate(String name, long bytes);
}
