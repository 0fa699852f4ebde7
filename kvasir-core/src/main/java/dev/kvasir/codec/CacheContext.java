package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.function.Supplier;

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
public record CacheContext(
    int queryHeads,
    Optional<Rotation> rotation,
    Optional<Profile> profile,
    Optional<ModelTables> tables,
    MemoryPool memory,
    int contextLimit,
    Kernels kernels,
    WorkerPool workers) {
  private static final WorkerPool SINGLE_THREAD = new WorkerPool(1);

  /** Vectors of which nothing is known, as they come from a file. */
  public static CacheContext unknown() {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    return new CacheContext(
        0,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        MemoryPool.unlimited(),
        0,
        kernels,
        SINGLE_THREAD);
  }

  /** The profile, if it holds a part. */
  public Optional<Profile> profileWith(String part) {
    return profile.filter(held -> held.has(part));
  }

  /**
   * A refusal where nobody has calibrated for a cache.
   *
   * @param spec as typed
   * @param needs what calibration makes
   * @param making what it does to make it
   * @param target what it is given as {@code --kv}
   */
  public InvalidInputException missingCalibration(
      String spec, String needs, String making, String target) {
    return new InvalidInputException(
        ("the cache '%s' needs %s%s; %s with 'kvasir calibrate --kv %s --out FILE' and give"
                + " --profile FILE")
            .formatted(spec, needs, profileLacksPart(), making, target));
  }

  /** What a refusal says of a profile that is there and does not help. */
  public String profileLacksPart() {
    return profile.map(held -> " and %s holds none".formatted(held.name())).orElse("");
  }

  /**
   * @param spec that cannot do without, as typed
   */
  public Rotation requireRotation(String spec) {
    return rotation.orElseThrow(
        () ->
            new InvalidInputException(
                "the cache '%s' must know how keys are rotated; it needs a model whose layers all"
                        .formatted(spec)
                    + " rotate them alike"));
  }

  /**
   * @param spec that cannot do without, as typed
   * @param what it keeps there
   */
  public ModelTables requireTables(String spec, String what) {
    return tables.orElseThrow(
        () ->
            new InvalidInputException(
                "the cache '%s' has %s that sequences share; it needs a model that owns them"
                    .formatted(spec, what)));
  }

  /** What sequences share where a model owns it, and what is made for one alone elsewhere. */
  public <T> T shared(Object key, Class<T> type, Supplier<T> make) {
    return tables.map(owned -> owned.getOrCreate(key, type, memory -> make.get())).orElseGet(make);
  }

  public CacheContext withRotation(Optional<Rotation> value) {
    return new CacheContext(
        queryHeads, value, profile, tables, memory, contextLimit, kernels, workers);
  }

  public CacheContext withQueryHeads(int value) {
    return new CacheContext(
        value, rotation, profile, tables, memory, contextLimit, kernels, workers);
  }

  public CacheContext withProfile(Optional<Profile> value) {
    return new CacheContext(
        queryHeads, rotation, value, tables, memory, contextLimit, kernels, workers);
  }

  public CacheContext withTables(Optional<ModelTables> value) {
    return new CacheContext(
        queryHeads, rotation, profile, value, memory, contextLimit, kernels, workers);
  }

  public CacheContext withMemory(MemoryPool value) {
    return new CacheContext(
        queryHeads, rotation, profile, tables, value, contextLimit, kernels, workers);
  }

  public CacheContext withContextLimit(int value) {
    return new CacheContext(queryHeads, rotation, profile, tables, memory, value, kernels, workers);
  }

  public CacheContext withKernels(Kernels value) {
    return new CacheContext(
        queryHeads, rotation, profile, tables, memory, contextLimit, value, workers);
  }

  public CacheContext withWorkers(WorkerPool value) {
    return new CacheContext(
        queryHeads, rotation, profile, tables, memory, contextLimit, kernels, value);
  }
}
