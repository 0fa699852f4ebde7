package dev.kvasir.encoder;

import dev.kvasir.encoder.BertWeights.Head;
import dev.kvasir.encoder.BertWeights.Layer;
import dev.kvasir.encoder.BertWeights.Linear;
import dev.kvasir.encoder.BertWeights.Norm;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Reads the tensors of an encoder by any of the names that they have in files. */
final class BertLoader {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Values that are converted at once, since a whole vocabulary may not fit an array. */
  private static final int MAX_CONVERTED = 1 << 22;

  private final BertConfig config;
  private final TensorSource file;
  private final CountedArena arena = new CountedArena();

  private BertLoader(BertConfig config, TensorSource file) {
    this.config = config;
    this.file = file;
  }

  static BertWeights load(BertConfig config, TensorSource file) {
    BertLoader loader = new BertLoader(config, file);
    try {
      return loader.load();
    } catch (RuntimeException | Error e) {
      loader.arena.close();
      throw e;
    }
  }

  private BertWeights load() {
    int hidden = config.hidden();
    List<Layer> layers = new ArrayList<>();
    for (int layer = 0; layer < config.layers(); layer++) {
      layers.add(layer("encoder.layer.%d.".formatted(layer)));
    }
    return new BertWeights(
        matrix(require("embeddings.word_embeddings.weight", config.vocabulary(), hidden)),
        positions(),
        types(),
        norm("embeddings.LayerNorm"),
        List.copyOf(layers),
        head(),
        arena);
  }

  private float[] positions() {
    if (config.hasRotaryPositions()) {
      return new float[0];
    }
    int rows = config.firstPosition() + config.positions();
    Tensor all = require("embeddings.position_embeddings.weight", rows, config.hidden());
    return all.rows(config.firstPosition(), rows).toFloats();
  }

  /** Returns the vectors of all types; zeros for a model that has no types. */
  private float[] types() {
    Optional<Tensor> types = find("embeddings.token_type_embeddings.weight");
    if (types.isEmpty()) {
      return new float[config.hidden()];
    }
    long[] shape = types.get().shape();
    if (shape.length != 2 || shape[0] < 1 || shape[1] != config.hidden()) {
      throw wrongShape(types.get(), "N x " + config.hidden());
    }
    return types.get().toFloats();
  }

  private Layer layer(String prefix) {
    int hidden = config.hidden();
    int wide = config.feedForward();
    Linear[] projections = projections(prefix + "attention.self.");
    return new Layer(
        projections[0],
        projections[1],
        projections[2],
        linear(prefix + "attention.output.dense", hidden, hidden),
        norm(prefix + "attention.output.LayerNorm"),
        linear(prefix + "intermediate.dense", wide, hidden),
        config.family().isGated()
            ? Optional.of(linear(prefix + "intermediate.gate", wide, hidden))
            : Optional.empty(),
        linear(prefix + "output.dense", hidden, wide),
        norm(prefix + "output.LayerNorm"));
  }

  /** Returns the projections to queries, keys and values, which may be rows of one matrix. */
  private Linear[] projections(String prefix) {
    int hidden = config.hidden();
    String fused = prefix + "query_key_value";
    if (find(fused + ".weight").isEmpty()) {
      return new Linear[] {
        linear(prefix + "query", hidden, hidden),
        linear(prefix + "key", hidden, hidden),
        linear(prefix + "value", hidden, hidden)
      };
    }
    Tensor weight = require(fused + ".weight", 3L * hidden, hidden);
    float[] bias = bias(fused, 3 * hidden);
    Linear[] parts = new Linear[3];
    for (int part = 0; part < parts.length; part++) {
      int from = part * hidden;
      parts[part] =
          new Linear(
              matrix(weight.rows(from, from + hidden)),
              bias.length == 0 ? bias : Arrays.copyOfRange(bias, from, from + hidden));
    }
    return parts;
  }

  /**
   * Returns the head of a model that scores pairs: BERT scores what its pooler makes of the first
   * token, RoBERTa has a layer of the head for that, and converted files may have neither.
   */
  private Optional<Head> head() {
    String direct = "classifier";
    String nested = "classifier.out_proj";
    String out = find(nested + ".weight").isPresent() ? nested : direct;
    Optional<Tensor> weight = find(out + ".weight");
    if (weight.isEmpty()) {
      return Optional.empty();
    }
    int hidden = config.hidden();
    String dense =
        find("classifier.dense.weight").isPresent() ? "classifier.dense" : "pooler.dense";
    Optional<Linear> first = find(dense + ".weight").map(_ -> linear(dense, hidden, hidden));
    if (weight.get().shape()[0] != 1) {
      throw new InvalidInputException(
          "%s: the head scores %d labels; a reranker needs one"
              .formatted(file.name(), weight.get().shape()[0]));
    }
    return Optional.of(new Head(first, linear(out, 1, hidden)));
  }

  private Norm norm(String name) {
    String suffix = find(name + ".gamma").isPresent() ? "gamma" : "weight"; // of old files
    String shift = suffix.equals("gamma") ? "beta" : "bias";
    long width = config.hidden();
    return new Norm(
        require(name + "." + suffix, width).toFloats(),
        require(name + "." + shift, width).toFloats());
  }

  private Linear linear(String name, int rows, int columns) {
    return new Linear(matrix(require(name + ".weight", rows, columns)), bias(name, rows));
  }

  private float[] bias(String name, int rows) {
    boolean isOptional = config.family().isGated();
    return isOptional && find(name + ".bias").isEmpty()
        ? BertWeights.NO_BIAS
        : require(name + ".bias", rows).toFloats();
  }

  /** Copies a matrix as floats out of the file. */
  private DenseMatrix matrix(Tensor tensor) {
    int rows = (int) tensor.shape()[0];
    int columns = (int) tensor.shape()[1];
    MemorySegment data = arena.allocate((long) rows * columns * Float.BYTES, Float.BYTES);
    int step = Math.max(1, MAX_CONVERTED / columns);
    for (int from = 0; from < rows; from += step) {
      float[] some = tensor.rows(from, Math.min(rows, from + step)).toFloats();
      MemorySegment.copy(some, 0, data, FLOAT, (long) from * columns * Float.BYTES, some.length);
    }
    return new DenseMatrix(DenseMatrix.Precision.F32, rows, columns, data);
  }

  private Optional<Tensor> find(String name) {
    return BertNames.candidates(name).map(file::find).flatMap(Optional::stream).findFirst();
  }

  private Tensor require(String name, long... shape) {
    Tensor tensor =
        find(name)
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: tensor '%s' is missing".formatted(file.name(), name)));
    // Converted heads are one-dimensional where they have one label.
    boolean isVector = tensor.shape().length == 1 && shape.length == 2 && shape[0] == 1;
    Tensor whole =
        isVector
            ? new Tensor(
                tensor.name(), tensor.type(), new long[] {1, tensor.shape()[0]}, tensor.data())
            : tensor;
    if (!Arrays.equals(whole.shape(), shape)) {
      throw wrongShape(
          tensor,
          shape.length == 1 ? Long.toString(shape[0]) : "%d x %d".formatted(shape[0], shape[1]));
    }
    return whole;
  }

  private InvalidInputException wrongShape(Tensor tensor, String expected) {
    return new InvalidInputException(
        "%s: tensor '%s' is %s; expected %s"
            .formatted(file.name(), tensor.name(), tensor.shapeText(), expected));
  }
}
