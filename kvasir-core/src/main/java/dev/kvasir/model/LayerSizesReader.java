package dev.kvasir.model;

import dev.kvasir.codec.HeadShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Reads sizes that differ by layer from the files of Gemma 4. */
final class LayerSizesReader {
  /** Bounds the lists of layers before any tensor has been found. */
  private static final int MAX_LAYERS = 1 << 16;

  private static final int DEFAULT_GLOBAL_DIM = 512;

  private LayerSizesReader() {}

  /** Reads them from a GGUF file. */
  static ModelConfig of(String fileName, GgufMetadata metadata, ModelConfig plain) {
    if (plain.architecture() != Architecture.GEMMA4) {
      return plain;
    }
    requireFewLayers(fileName, plain);
    String prefix = plain.architecture().identifier() + ".";
    int layers = plain.layers();
    long[] kvHeads = perLayer(fileName, metadata, prefix + "attention.head_count_kv", layers);
    long[] widths = perLayer(fileName, metadata, prefix + "feed_forward_length", layers);
    int localKeys = metadata.integer(prefix + "attention.key_length_swa").orElse(plain.keyDim());
    int localValues =
        metadata.integer(prefix + "attention.value_length_swa").orElse(plain.valueDim());
    int shared = metadata.integer(prefix + "attention.shared_kv_layers").orElse(0);
    return with(
        fileName,
        plain,
        shared,
        metadata.integer(prefix + "embedding_length_per_layer_input").orElse(0),
        layer -> (int) widths[layer],
        layer ->
            plain.windows().isLocal(layer)
                ? new HeadShape((int) kvHeads[layer], localKeys, localValues)
                : new HeadShape((int) kvHeads[layer], plain.keyDim(), plain.valueDim()));
  }

  /** Reads them from a Hugging Face folder. */
  static ModelConfig of(JsonFile json, ModelConfig plain) {
    if (plain.architecture() != Architecture.GEMMA4) {
      return plain;
    }
    requireFewLayers(json.name(), plain);
    int shared = json.integer("num_kv_shared_layers").orElse(0);
    boolean widens = json.bool("use_double_wide_mlp").orElse(false);
    int width = plain.feedForward();
    return with(
        json.name(),
        plain,
        shared,
        json.integer("hidden_size_per_layer_input").orElse(256),
        layer -> widens && layer >= plain.layers() - shared ? 2 * width : width,
        heads(json, plain));
  }

  /** Returns the heads of each layer. Newer files list layers with other heads. */
  private static IntFunction<HeadShape> heads(JsonFile json, ModelConfig plain) {
    Optional<LayerOverrides> listed = LayerOverrides.of(json, plain.layers());
    if (listed.isPresent()) {
      return layer -> {
        int dim = listed.get().headDim(layer, plain.keyDim());
        return new HeadShape(listed.get().kvHeads(layer, plain.kvHeads()), dim, dim);
      };
    }
    boolean keysAreValues = json.bool("attention_k_eq_v").orElse(false);
    int globalHeads =
        keysAreValues
            ? json.integer("num_global_key_value_heads").orElse(plain.kvHeads())
            : plain.kvHeads();
    int globalDim = globalDim(json);
    return layer ->
        plain.windows().isLocal(layer)
            ? new HeadShape(plain.kvHeads(), plain.keyDim(), plain.valueDim())
            : new HeadShape(globalHeads, globalDim, globalDim);
  }

  /** Returns the channels of heads in layers without a window. */
  static int globalDim(JsonFile json, WindowPattern windows, int layers, int headDim) {
    Optional<LayerOverrides> listed = LayerOverrides.of(json, layers);
    return listed.isEmpty()
        ? globalDim(json)
        : IntStream.range(0, Math.min(layers, MAX_LAYERS))
            .filter(layer -> !windows.isLocal(layer))
            .map(layer -> listed.get().headDim(layer, headDim))
            .findFirst()
            .orElse(headDim);
  }

  private static int globalDim(JsonFile json) {
    return json.integer("global_head_dim").orElse(DEFAULT_GLOBAL_DIM);
  }

  private static ModelConfig with(
      String fileName,
      ModelConfig plain,
      int shared,
      int inputChannels,
      IntFunction<Integer> width,
      IntFunction<HeadShape> heads) {
    List<Integer> sources =
        LayerSizes.cacheLayers(
            fileName, plain.layers(), plain.layers() - Math.max(0, shared), plain.windows());
    return plain.withPerLayer(
        new LayerSizes(
            sources.stream().map(heads::apply).toList(),
            IntStream.range(0, plain.layers()).mapToObj(width).toList(),
            sources,
            inputChannels));
  }

  private static void requireFewLayers(String fileName, ModelConfig plain) {
    if (plain.layers() < 1 || plain.layers() > MAX_LAYERS) {
      throw new InvalidInputException(
          "%s: layers is %d; expected 1 to %d in a model whose layers differ"
              .formatted(fileName, plain.layers(), MAX_LAYERS));
    }
  }

  /** Returns a number for each layer, or the same for all. */
  private static long[] perLayer(String fileName, GgufMetadata metadata, String key, int layers) {
    if (!(metadata.value(key).orElse(null) instanceof long[] each)) {
      long[] same = new long[layers];
      Arrays.fill(same, metadata.requireInteger(key));
      return same;
    }
    if (each.length != layers) {
      throw new InvalidInputException(
          "%s: '%s' has %d entries; expected %d".formatted(fileName, key, each.length, layers));
    }
    for (long one : each) {
      if (one < 1 || one > Integer.MAX_VALUE) {
        throw new InvalidInputException(
            "%s: '%s' has an entry of %d; expected 1 to %d"
                .formatted(fileName, key, one, Integer.MAX_VALUE));
      }
    }
    return each;
  }

  /** Returns the largest number of a key that has one for each layer, or the one of all. */
  static int largest(String fileName, GgufMetadata metadata, String key) {
    if (!(metadata.value(key).orElse(null) instanceof long[] each)) {
      return metadata.requireInteger(key);
    }
    long largest = Arrays.stream(each).max().orElse(0);
    if (largest > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: '%s' has an entry of %d; expected at most %d"
              .formatted(fileName, key, largest, Integer.MAX_VALUE));
    }
    return (int) largest;
  }
}
