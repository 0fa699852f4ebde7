package dev.kvasir.cache;

import dev.kvasir.kernel.Rotation;
import java.util.Optional;

/** What a spec stands for, before the model's sizes are known. */
public interface CacheMethod {
  /** Settings that foretell a cache's bytes; all that a method needs which turns no keys. */
  CacheSettings settings(CacheShape shape);

  /**
   * Settings to keep tokens with.
   *
   * @param rotation that keys carry, where it is known
   * @throws dev.kvasir.error.InvalidInputException where the method needs it and it is not known
   */
  default CacheSettings settings(CacheShape shape, Optional<Rotation> rotation) {
    return settings(shape);
  }
}
