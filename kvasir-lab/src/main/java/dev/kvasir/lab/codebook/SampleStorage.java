package dev.kvasir.lab.codebook;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Provides memory for samples. */
@FunctionalInterface
public interface SampleStorage {
  /** Off-heap memory that lives as long as its sample. */
  SampleStorage MEMORY = (name, bytes) -> Arena.ofAuto().allocate(bytes);

  /**
   * Returns memory for a sample: zero, or the contents of an earlier run.
   *
   * @param name name of the sample, unique within one run
   */
  MemorySegment allocate(String name, long bytes);
}
