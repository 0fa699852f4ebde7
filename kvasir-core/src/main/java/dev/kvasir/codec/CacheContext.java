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
 * The facts about a model that a cache may depend on.
 *
 * @param queryHeads query heads of a layer; 0 if unknown
 * @param rotations the rotary embedding that each layer applies to keys, if known
 * @param profile calibration results for the model, if any
 * @param tables tables shared by all sequences of the model, if it owns any
 * @param memory pool from which keys and values are allocated
 * @param contextLimit maximum tokens of the sequence; 0 if unknown
 * @param kernels kernels that the model runs on
 * @param workers threads for the training that a method does at run time
 */
public record CacheContext(
    int queryHeads,
    Optional<LayerRotations> rotations,
    Optional<Profile> profile,
    Optional<ModelTables> tables,
    MemoryPool memory,
    int contextLimit,
    Kernels kernels,
    WorkerPool workers) {
  private static final WorkerPool SINGLE_THREAD = new WorkerPool(1);

  /** Returns the context of vectors with no known model, such as vectors read from a file. */
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

  public Optional<Profile> profileWith(String part) {
    return profile.filter(held -> held.has(part));
  }

  /**
   * Returns the exception for a cache that has not been calibrated.
   *
   * @param spec the cache spec as typed
   * @param needs what calibration produces
   * @param making the verb phrase that tells the user what to do
   * @param target the value of {@code --kv} for calibration
   */
  public InvalidInputException missingCalibration(
      String spec, String needs, String making, String target) {
    return new InvalidInputException(
        ("the cache '%s' needs %s%s; %s with 'kvasir calibrate --kv %s --model MODEL', or for the"
                + " bundled model with --out FILE, and give --profile FILE")
            .formatted(spec, needs, profileLacksPart(), making, target));
  }

  /** Returns the clause of an error message that names a profile without the required part. */
  public String profileLacksPart() {
    return profile.map(held -> " and %s holds none".formatted(held.name())).orElse("");
  }

  /** Returns the rotary embedding of keys, if it is known and the same in all layers. */
  public Optional<Rotation> rotation() {
    return rotations.flatMap(LayerRotations::shared);
  }

  /**
   * Returns the rotary embedding that all layers apply to keys.
   *
   * @param spec the cache spec that requires it, as typed
   * @throws InvalidInputException if it is unknown or layers differ
   */
  public Rotation requireRotation(String spec) {
    return rotation()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the cache '%s' must know how keys are rotated; it needs a model whose layers all"
                            .formatted(spec)
                        + " rotate them alike"));
  }

  /**
   * Returns the rotary embedding of keys in each layer.
   *
   * @param spec the cache spec that requires it, as typed
   * @throws InvalidInputException if it is unknown
   */
  public LayerRotations requireRotations(String spec) {
    return rotations.orElseThrow(
        () ->
            new InvalidInputException(
                "the cache '%s' must know how keys are rotated; it needs a model that rotates them"
                    .formatted(spec)));
  }

  /**
   * Returns the tables shared by all sequences.
   *
   * @param spec the cache spec that requires them, as typed
   * @param what the contents of the tables, for the error message
   * @throws InvalidInputException if no model owns tables
   */
  public ModelTables requireTables(String spec, String what) {
    return tables.orElseThrow(
        () ->
            new InvalidInputException(
                "the cache '%s' has %s that sequences share; it needs a model that owns them"
                    .formatted(spec, what)));
  }

  /**
   * Returns an object shared by all sequences of the model, or a new one if no model owns tables.
   */
  public <T> T shared(Object key, Class<T> type, Supplier<T> make) {
    return tables.map(owned -> owned.cached(key, type, memory -> make.get())).orElseGet(make);
  }

  /** Returns a copy with the rotary embedding that all layers apply to keys. */
  public CacheContext withRotation(Optional<Rotation> value) {
    return withRotations(value.map(LayerRotations::ofAll));
  }

  public CacheContext withRotations(Optional<LayerRotations> value) {
    return new CacheContext(
        queryHeads, value, profile, tables, memory, contextLimit, kernels, workers);
  }

  /** Returns the context of some layers alone. */
  public CacheContext ofLayers(int... layers) {
    return withRotations(rotations.map(all -> all.ofLayers(layers)));
  }

  public CacheContext withQueryHeads(int value) {
    return new CacheContext(
        value, rotations, profile, tables, memory, contextLimit, kernels, workers);
  }

  public CacheContext withProfile(Optional<Profile> value) {
    return new CacheContext(
        queryHeads, rotations, value, tables, memory, contextLimit, kernels, workers);
  }

  public CacheContext withTables(Optional<ModelTables> value) {
    return new CacheContext(
        queryHeads, rotations, profile, value, memory, contextLimit, kernels, workers);
  }

  public CacheContext withMemory(MemoryPool value) {
    return new CacheContext(
        queryHeads, rotations, profile, tables, value, contextLimit, kernels, workers);
  }

  public CacheContext withContextLimit(int value) {
    return new CacheContext(
        queryHeads, rotations, profile, tables, memory, value, kernels, workers);
  }

  public CacheContext withKernels(Kernels value) {
    return new CacheContext(
        queryHeads, rotations, profile, tables, memory, contextLimit, value, workers);
  }

  public CacheContext withWorkers(WorkerPool value) {
    return new CacheContext(
        queryHeads, rotations, profile, tables, memory, contextLimit, kernels, value);
  }
}
