package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Mxfp4Pair;
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
  private final Set<String> loadedAsFloats = new HashSet<>();
  private long otherBytes; // of what is no tensor of its own

  TensorPlan(ModelConfig config, TensorSource file, TensorNames names) {
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
    projection(layer, Part.QUERY, queries, hidden, biased);
    projection(layer, Part.KEY, keys, hidden, biased);
    projection(layer, Part.VALUE, values, hidden, biased);
    if (config.architecture().headNorms()) {
      vector(layer, Part.QUERY_NORM, config.keyDim());
      vector(layer, Part.KEY_NORM, config.keyDim());
    }
    projection(layer, Part.OUTPUT, hidden, mixed, false);
    vector(layer, Part.FEED_FORWARD_NORM, hidden);
    if (config.experts().isPresent() && config.experts().get().isIn(layer)) {
      ExpertTensors.of(config, names).plan(this, layer);
      return;
    }
    projection(layer, Part.GATE, config.feedForward(), hidden, false);
    projection(layer, Part.UP, config.feedForward(), hidden, false);
    projection(layer, Part.DOWN, hidden, config.feedForward(), false);
  }

  /** Adds a tensor that the file must hold. */
  void need(String name, long... shape) {
    required.put(name, shape);
  }

  /** The same for one that becomes floats, whatever its shape. */
  void needFloats(String name, long... shape) {
    required.put(name, shape);
    loadedAsFloats.add(name);
  }

  /** Adds a tensor that the file may hold. */
  void allow(String name, long... shape) {
    optional.put(name, shape);
  }

  /** Whether the file has a tensor of that name, of whatever shape. */
  boolean holds(String name) {
    return file.find(name).isPresent();
  }

  /** Blocks and scales of that name, where the file holds experts so. */
  Optional<Mxfp4Pair> mxfp4(String name) {
    return file instanceof SafetensorsFolder folder ? folder.findMxfp4(name) : Optional.empty();
  }

  /** Adds blocks and scales of that name, refused unless they have these sizes. */
  void needMxfp4(String name, int experts, int rows, int columns) {
    Mxfp4Pair pair = mxfp4(name).orElseThrow();
    if (pair.experts() != experts || pair.rows() != rows || pair.columns() != columns) {
      throw new InvalidInputException(
          "%s: tensor '%s_blocks' has %d experts of %d x %d; expected %d of %d x %d"
              .formatted(
                  file.name(),
                  name,
                  pair.experts(),
                  pair.rows(),
                  pair.columns(),
                  experts,
                  rows,
                  columns));
    }
    otherBytes += experts * codedBytes(GgmlType.MXFP4.layout(), rows, columns);
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
    long bytes = otherBytes;
    for (String name : required.keySet()) {
      Tensor tensor = require(name);
      bytes += loadedAsFloats.contains(name) ? tensor.values() * Float.BYTES : loadedBytes(tensor);
    }
    for (String name : optional.keySet()) {
      bytes += find(name).map(TensorPlan::loadedBytes).orElse(0L);
    }
    return bytes;
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
    return codedBytes(tensor.type().layout(), rows, columns);
  }

  private static long codedBytes(BlockLayout layout, long rows, long columns) {
    return CodedMatrix.bytesFor(
        rows, columns, layout.codeBits(), layout.groupLength(), layout.hasMinimums());
  }
}
