package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.Tensor;
import dev.kvasir.model.ModelConfig.OutputWeights;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads the configuration of a decoder from a GGUF file's metadata. */
final class GgufConfig {
  private final GgufFile file;
  private final GgufMetadata metadata;
  private final Architecture architecture;

  private GgufConfig(GgufFile file) {
    this.file = file;
    this.metadata = file.metadata();
    this.architecture =
        Architecture.named(metadata.requireString("general.architecture"), file.name());
  }

  static ModelConfig read(GgufFile file) {
    ModelConfig plain = new GgufConfig(file).config();
    ModelConfig config =
        plain.architecture().isLatent()
            ? LatentConfigReader.of(file.name(), file.metadata(), plain)
            : LayerSizesReader.of(
                file.name(),
                file.metadata(),
                RecurrentConfigReader.of(file.name(), file.metadata(), plain));
    return ExpertConfigReader.of(file.name(), file.metadata(), config).checked(file.name());
  }

  private ModelConfig config() {
    int hidden = metadata.requireInteger(key("embedding_length"));
    int layers = metadata.requireInteger(key("block_count"));
    if (architecture.isHybrid() || architecture == Architecture.GLM4_MOE) {
      // Multi-token prediction layers come last and are not run.
      layers -= metadata.integer(key("nextn_predict_layers")).orElse(0);
    }
    int queryHeads = metadata.requireUniformInteger(key("attention.head_count"));
    int keyDim =
        metadata
            .integer(key("attention.key_length"))
            .orElse(queryHeads == 0 ? 0 : hidden / queryHeads);
    int contextLength = metadata.requireInteger(key("context_length"));
    WindowPattern windows = GgufWindows.read(metadata, architecture, layers, file.name());
    return new ModelConfig(
        metadata.string("general.name").orElse(file.name()),
        architecture,
        layers,
        hidden,
        feedForward(),
        queryHeads,
        kvHeads(queryHeads),
        keyDim,
        metadata.integer(key("attention.value_length")).orElse(keyDim),
        vocabulary(hidden),
        contextLength,
        metadata.number(key("attention.layer_norm_rms_epsilon")).orElse(1e-5).floatValue(),
        new GgufRopes(file, architecture, keyDim, contextLength).pattern(windows),
        windows,
        GgufScales.read(metadata, architecture, layers, hidden, queryHeads, keyDim),
        Optional.empty(),
        Optional.empty(),
        OutputWeights.OWN_OR_EMBEDDING);
  }

  /** Returns the width of dense feed-forward layers; some mixtures of experts do not state it. */
  private int feedForward() {
    String key = key("feed_forward_length");
    if (architecture == Architecture.GEMMA4) {
      return LayerSizesReader.largest(file.name(), metadata, key);
    }
    if (architecture.isNemotron()) {
      return nonZero(key, Integer.MAX_VALUE);
    }
    OptionalInt experts = metadata.integer(key("expert_feed_forward_length"));
    return architecture.hasDeltaNets() && experts.isPresent()
        ? metadata.uniformInteger(key).orElse(experts.getAsInt())
        : metadata.requireUniformInteger(key);
  }

  /** Returns the KV heads of layers with attention; recurrent layers state 0. */
  private int kvHeads(int queryHeads) {
    String key = key("attention.head_count_kv");
    if (architecture == Architecture.GEMMA4) {
      return LayerSizesReader.largest(file.name(), metadata, key);
    }
    if (!architecture.isHybrid() || !(metadata.value(key).orElse(null) instanceof long[])) {
      return metadata.uniformInteger(key).orElse(queryHeads);
    }
    return nonZero(key, queryHeads);
  }

  /** Returns the number that all layers state which do not state 0. */
  private int nonZero(String key, int most) {
    long[] each = metadata.integers(key).orElse(new long[0]);
    long[] stated = Arrays.stream(each).filter(one -> one != 0).distinct().toArray();
    if (stated.length != 1 || stated[0] < 1 || stated[0] > most) {
      throw new InvalidInputException(
          "%s: '%s' is %s in layers that have it; expected the same number, 1 to %d, in all"
              .formatted(file.name(), key, Arrays.toString(stated), most));
    }
    return (int) stated[0];
  }

  private int vocabulary(int hidden) {
    Tensor embedding =
        file.find(TensorNames.GGUF.embedding())
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: holds no weights; tensor '%s' was expected"
                            .formatted(file.name(), TensorNames.GGUF.embedding())));
    if (embedding.shape().length != 2 || embedding.shape()[0] > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected vocabulary x %d"
              .formatted(file.name(), embedding.name(), embedding.shapeText(), hidden));
    }
    return (int) embedding.shape()[0];
  }

  private String key(String suffix) {
    return architecture.identifier() + "." + suffix;
  }

  /** Reads the sliding window of each layer from a GGUF file's metadata. */
  private static final class GgufWindows {
    /** Default of llama.cpp for Gemma 2 files that state no window. */
    private static final int GEMMA2_WINDOW = 4096;

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
}
