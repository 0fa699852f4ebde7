package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import java.util.Optional;

/** Reads the sliding window of each layer from a GGUF file's metadata. */
final class GgufWindows {
  /** Default of llama.cpp for Gemma 2 files that state no window. */
  private static final int GEMMA2_WINDOW = 4096;

  private GgufWindows() {}

  static WindowPattern read(
      GgufMetadata metadata, Architecture architecture, int layers, String fileName) {
    String prefix = architecture.identifier() + ".attention.sliding_window";
    int fallback = architecture == Architecture.GEMMA2 ? GEMMA2_WINDOW : 0;
    int window = metadata.integer(prefix).orElse(fallback);
    // Converters write values that Phi was not trained with; llama.cpp ignores them.
    if (window == 0 || architecture == Architecture.PHI3) {
      return WindowPattern.FULL;
    }
    String key = prefix + "_pattern";
    if (metadata.value(key).filter(value -> value instanceof boolean[]).isPresent()) {
      return pattern(metadata.bools(key), window, layers, fileName, key);
    }
    return WindowPattern.exceptEvery(
        metadata.integer(key).orElse(architecture.traits().localPeriod()), window);
  }

  private static WindowPattern pattern(
      Optional<boolean[]> found, int window, int layers, String fileName, String key) {
    boolean[] local = found.orElseThrow();
    if (local.length != layers) {
      throw new InvalidInputException(
          "%s: '%s' has %d entries; expected %d".formatted(fileName, key, local.length, layers));
    }
    return layer -> local[layer] ? window : WindowPattern.UNBOUNDED;
  }
}
