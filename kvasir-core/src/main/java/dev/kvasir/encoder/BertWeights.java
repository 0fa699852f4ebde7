package dev.kvasir.encoder;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The weights of a BERT model as 32-bit floats, and the memory that owns them.
 *
 * @param types the vector of token type 0, which a single text has
 */
record BertWeights(
    float[] words, // (vocabulary, hidden)
    float[] positions, // (positions, hidden)
    float[] types, // (hidden)
    Norm norm,
    List<Layer> layers,
    CountedArena arena)
    implements AutoCloseable {

  /** Scale and shift of a layer norm. */
  record Norm(float[] weight, float[] bias) {}

  /** A matrix with one bias per row. */
  record Linear(Matrix matrix, float[] bias) {}

  /** One layer; norms follow the residual additions. */
  record Layer(
      Linear query,
      Linear key,
      Linear value,
      Linear attentionOut,
      Norm attentionNorm,
      Linear up,
      Linear down,
      Norm outputNorm) {}

  static BertWeights load(BertConfig config, TensorSource file) {
    CountedArena arena = new CountedArena();
    try {
      return new Loader(config, file, arena).load();
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  @Override
  public void close() {
    arena.close();
  }

  /**
   * Reads tensors by the names of Hugging Face, with the prefix that some files have, or by those
   * of GGUF.
   */
  private record Loader(BertConfig config, TensorSource file, CountedArena arena) {
    private static final ValueLayout.OfFloat FLOAT =
        ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    BertWeights load() {
      int hidden = config.hidden();
      List<Layer> layers = new ArrayList<>();
      for (int layer = 0; layer < config.layers(); layer++) {
        layers.add(layer("encoder.layer.%d.".formatted(layer)));
      }
      return new BertWeights(
          floats("embeddings.word_embeddings.weight", config.vocabulary(), hidden),
          floats("embeddings.position_embeddings.weight", config.positions(), hidden),
          firstType(),
          norm("embeddings.LayerNorm"),
          List.copyOf(layers),
          arena);
    }

    private float[] firstType() {
      Tensor types = require("embeddings.token_type_embeddings.weight");
      long[] shape = types.shape();
      if (shape.length != 2 || shape[0] < 1 || shape[1] != config.hidden()) {
        throw wrongShape(types, "N x " + config.hidden());
      }
      return Arrays.copyOf(types.toFloats(), config.hidden());
    }

    private Layer layer(String prefix) {
      int hidden = config.hidden();
      int wide = config.feedForward();
      return new Layer(
          linear(prefix + "attention.self.query", hidden, hidden),
          linear(prefix + "attention.self.key", hidden, hidden),
          linear(prefix + "attention.self.value", hidden, hidden),
          linear(prefix + "attention.output.dense", hidden, hidden),
          norm(prefix + "attention.output.LayerNorm"),
          linear(prefix + "intermediate.dense", wide, hidden),
          linear(prefix + "output.dense", hidden, wide),
          norm(prefix + "output.LayerNorm"));
    }

    private Norm norm(String name) {
      return new Norm(
          floats(name + ".weight", config.hidden()), floats(name + ".bias", config.hidden()));
    }

    private Linear linear(String name, int rows, int columns) {
      float[] values = floats(name + ".weight", rows, columns);
      MemorySegment data = arena.allocate((long) values.length * Float.BYTES, Float.BYTES);
      MemorySegment.copy(values, 0, data, FLOAT, 0, values.length);
      return new Linear(
          new DenseMatrix(DenseMatrix.Precision.F32, rows, columns, data),
          floats(name + ".bias", rows));
    }

    private float[] floats(String name, long... shape) {
      Tensor tensor = require(name);
      if (!Arrays.equals(tensor.shape(), shape)) {
        throw wrongShape(
            tensor,
            shape.length == 1 ? Long.toString(shape[0]) : "%d x %d".formatted(shape[0], shape[1]));
      }
      return tensor.toFloats();
    }

    private Tensor require(String name) {
      return file.find(name)
          .or(() -> file.find(BertConfig.MODEL_TYPE + "." + name))
          .or(() -> file.find(BertNames.gguf(name)))
          .orElseThrow(
              () ->
                  new InvalidInputException(
                      "%s: tensor '%s' is missing".formatted(file.name(), name)));
    }

    private InvalidInputException wrongShape(Tensor tensor, String expected) {
      return new InvalidInputException(
          "%s: tensor '%s' is %s; expected %s"
              .formatted(file.name(), tensor.name(), tensor.shapeText(), expected));
    }
  }
}
