package dev.kvasir.codec;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/**
 * What a cache may know of the model that it serves.
 *
 * @param queryHeads of a layer; 0 where that is not known
 * @param rotation that keys carry, where it is known
 * @param profile what methods learned of the model beforehand, where there is any
 * @param tables what all sequences of the model share, where there is one that owns it
 * @param memory that keys and values are taken from
 * @param contextLimit tokens that the sequence may grow to; 0 where that is not known
 * @param kernels that the model runs on
 * @param crew threads that work on what a method has to learn
 */
public record CacheHost(
    int queryHeads,
    Optional<Rotation> rotation,
    Optional<Profile> profile,
    Optional<ModelTables> tables,
    MemoryPool memory,
    int contextLimit,
    Kernels kernels,
    Crew crew) {
  private static final Crew NOBODY = new Crew(1);

  /** Vectors of which nothing is known, as they come from a file. */
  public static CacheHost unknown() {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    return new CacheHost(
        0,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        MemoryPool.unlimited(),
        0,
        kernels,
        NOBODY);
  }

  public CacheHost withRotation(Optional<Rotation> value) {
    return new CacheHost(queryHeads, value, profile, tables, memory, contextLimit, kernels, crew);
  }

  public CacheHost withQueryHeads(int value) {
    return new CacheHost(value, rotation, profile, tables, memory, contextLimit, kernels, crew);
  }

  public CacheHost withProfile(Optional<Profile> value) {
    return new CacheHost(queryHeads, rotation, value, tables, memory, contextLimit, kernels, crew);
  }

  public CacheHost withTables(Optional<ModelTables> value) {
    return new CacheHost(queryHeads, rotation, profile, value, memory, contextLimit, kernels, crew);
  }

  public CacheHost withMemory(MemoryPool value) {
    return new CacheHost(queryHeads, rotation, profile, tables, value, contextLimit, kernels, crew);
  }

  public CacheHost withContextLimit(int value) {
    return new CacheHost(queryHeads, rotation, profile, tables, memory, value, kernels, crew);
  }

  public CacheHost withKernels(Kernels value) {
    return new CacheHost(queryHeads, rotation, profile, tables, memory, contextLimit, value, crew);
  }

  public CacheHost withCrew(Crew value) {
    return new CacheHost(
        queryHeads, rotation, profile, tables, memory, contextLimit, kernels, value);
  }
}
