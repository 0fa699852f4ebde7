package dev.kvasir.model;

import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.model.TensorNames.Part;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The tensors that a decoder is made of, with their shapes, as a file must hold them. */
public final class TensorPlan {
  private final TensorSource file;
  private final TensorNames names;
  private final Map<String, long[]> required = new LinkedHashMap<>();
  private final Map<String, long[]> optional = new LinkedHashMap<>();
  private final Set<String> turned = new HashSet<>(); // keys and values of heads out of latents
  private final ModelConfig config;

  TensorPlan(ModelConfig config, TensorSource file, TensorNames names) {
    this.config = config;
    this.file = file;
    this.names = names;
    int hidden = config.hidden();
    required.put(names.embedding(), new long[] {config.vocabulary(), hidden});
    for (int layer = 0; layer < config.layers(); layer++) {
      planLayer(config, layer);
    }
    required.put(names.outputNorm(), new long[] {hidden});
    planOutput(config);
  }

  private void planOutput(ModelConfig config) {
    long[] shape = {config.vocabulary(), config.hidden()};
    switch (config.output()) {
      case OWN -> required.put(names.output(), shape);
      case OWN_OR_EMBEDDING -> optional.put(names.output(), shape);
      case EMBEDDING -> {}
    }
  }

  public static TensorPlan of(ModelConfig config, GgufFile file) {
    return new TensorPlan(config, file, TensorNames.GGUF);
  }

  public static TensorPlan of(ModelConfig config, SafetensorsFolder folder) {
    return new TensorPlan(config, folder, TensorNames.HUGGING_FACE);
  }

  private void planLayer(ModelConfig config, int layer) {
    int hidden = config.hidden();
    int queries = config.queryHeads() * config.keyDim();
    int keys = config.kvHeads() * config.keyDim();
    int values = config.kvHeads() * config.valueDim();
    int mixed = config.queryHeads() * config.valueDim();
    boolean biased = config.architecture().attentionBias() == Architecture.Bias.REQUIRED;
    vector(layer, Part.ATTENTION_NORM, hidden);
    if (config.latent().isPresent()) {
      planLatent(config, config.latent().get(), layer);
    } else {
      projection(layer, Part.QUERY, queries, hidden, biased);
      projection(layer, Part.KEY, keys, hidden, biased);
      projection(layer, Part.VALUE, values, hidden, biased);
      projection(layer, Part.OUTPUT, hidden, mixed, false);
    }
    if (config.architecture().headNorms()) {
      vector(layer, Part.QUERY_NORM, config.keyDim());
      vector(layer, Part.KEY_NORM, config.keyDim());
    }
    vector(layer, Part.FEED_FORWARD_NORM, hidden);
    projection(layer, Part.GATE, config.feedForward(), hidden, false);
    projection(layer, Part.UP, config.feedForward(), hidden, false);
    projection(layer, Part.DOWN, hidden, config.feedForward(), false);
  }

  private void planLatent(ModelConfig config, LatentConfig latent, int layer) {
    int hidden = config.hidden();
    long heads = config.queryHeads();
    if (latent.queryRank() == 0) {
      projection(layer, Part.QUERY, heads * latent.headDim(), hidden, false);
    } else {
      projection(layer, Part.QUERY_DOWN, latent.queryRank(), hidden, false);
      vector(layer, Part.QUERY_LATENT_NORM, latent.queryRank());
      projection(layer, Part.QUERY_UP, heads * latent.headDim(), latent.queryRank(), false);
    }
    projection(layer, Part.LATENT, latent.keyDim(), hidden, false);
    vector(layer, Part.LATENT_NORM, latent.rank());
    required.putAll(LatentTensors.shapes(latent, heads, file, names, layer));
    if (LatentTensors.areOne(file, names, layer)) {
      turned.add(names.weight(layer, Part.KEY_VALUE_UP));
    }
    projection(layer, Part.OUTPUT, hidden, heads * latent.output(), false);
  }

  private void vector(int layer, Part part, long length) {
    required.put(names.weight(layer, part), new long[] {length});
  }

  private void projection(int layer, Part part, long rows, long columns, boolean biased) {
    required.put(names.weight(layer, part), new long[] {rows, columns});
    (biased ? required : optional).put(names.bias(layer, part), new long[] {rows});
  }

  TensorNames names() {
    return names;
  }

  /** Whether a file must hold a tensor of that name. */
  boolean requires(String name) {
    return required.containsKey(name);
  }

  /** A tensor of the plan, refused unless the file holds it in its shape. */
  Tensor require(String name) {
    return file.require(name, required.containsKey(name) ? required.get(name) : optional.get(name));
  }

  /** A tensor that some files may do without; absent only where this one may. */
  Optional<Tensor> find(String name) {
    return required.containsKey(name)
        ? Optional.of(require(name))
        : file.find(name).filter(tensor -> optional.containsKey(name)).map(t -> require(name));
  }

  /**
   * Refuses a file in which a tensor is missing or has another shape, and answers the bytes that
   * the weights will take when they are loaded. No weight is read.
   */
  public long loadedBytes() {
    long bytes = 0;
    for (String name : required.keySet()) {
      bytes += turned.contains(name) ? turnedBytes(require(name)) : loadedBytes(require(name));
    }
    for (String name : optional.keySet()) {
      bytes += find(name).map(TensorPlan::loadedBytes).orElse(0L);
    }
    return bytes;
  }

  private long turnedBytes(Tensor both) {
    return LatentTensors.turnedBytes(both, config.latent().orElseThrow(), config.queryHeads());
  }

  /** Vectors become floats, coded matrices are laid out anew, others stay as they are mapped. */
  private static long loadedBytes(Tensor tensor) {
    if (tensor.shape().length == 1) {
      return tensor.values() * Float.BYTES;
    }
    long[] shape = tensor.shape();
    return shape.length == 3
        ? shape[0] * matrixBytes(tensor, shape[1], shape[2])
        : matrixBytes(tensor, shape[0], shape[1]);
  }

  /** Bytes of a matrix of those sizes, of a tensor's type. */
  static long matrixBytes(Tensor tensor, long rows, long columns) {
    if (tensor.type().isFloat()) {
      return tensor.type().bytesFor(rows * columns);
    }
    BlockLayout layout = tensor.type().layout();
    return CodedMatrix.bytesFor(
        rows, columns, layout.codeBits(), layout.groupLength(), layout.hasMinimums());
  }
}
