package dev.kvasir.encoder;

import dev.kvasir.encoder.BertWeights.Linear;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;
import java.nio.file.Path;
import java.util.List;

/**
 * BERT and its relatives. Embeddings of words, positions and token types are added and normalized;
 * then, in every layer,
 *
 * <pre>
 *   x = norm(x + attention(x))      all tokens of a text attend to all
 *   x = norm(x + down(gelu(up(x))))
 * </pre>
 *
 * <p>Nomic's encoders rotate queries and keys in place of position embeddings, and their second
 * part is {@code down(up(x) * silu(gate(x)))}. A head, if there is one, scores the first token.
 *
 * <p>One call runs at a time, on all threads.
 */
public final class BertEncoder implements AutoCloseable {
  private final BertConfig config;
  private final BertWeights weights;
  private final RotaryPositions rotary; // null with position embeddings
  private final MatrixProducts products;
  private final WorkerPool workers;

  private BertEncoder(BertConfig config, BertWeights weights, Kernels kernels, WorkerPool workers) {
    this.config = config;
    this.weights = weights;
    this.rotary =
        config.hasRotaryPositions()
            ? new RotaryPositions(config.positions(), config.headSize(), config.ropeBase())
            : null;
    this.products = new MatrixProducts(kernels, workers);
    this.workers = workers;
  }

  /** Returns whether a config.json is that of an encoder that this class runs. */
  public static boolean isEncoder(JsonFile config) {
    return BertConfig.Family.of(config).isPresent();
  }

  /** Loads a Hugging Face folder. */
  public static BertEncoder load(Path folder, Kernels kernels, WorkerPool workers) {
    BertConfig config =
        BertConfig.of(JsonFile.read(SafetensorsFolder.require(folder, "config.json")));
    try (SafetensorsFolder file = SafetensorsFolder.open(folder)) {
      return new BertEncoder(config, BertLoader.load(config, file), kernels, workers);
    }
  }

  /** Returns whether a GGUF file is that of an encoder that this class runs. */
  public static boolean isEncoder(GgufFile file) {
    return BertConfig.Family.of(file.metadata()).isPresent();
  }

  /** Loads a GGUF file, which may be closed afterwards. Quantized weights become floats. */
  public static BertEncoder load(GgufFile file, Kernels kernels, WorkerPool workers) {
    BertConfig config = BertConfig.of(file);
    return new BertEncoder(config, BertLoader.load(config, file), kernels, workers);
  }

  /** Returns the length of a token's vector. */
  public int hidden() {
    return config.hidden();
  }

  /** Returns the maximum tokens of a text. */
  public int positions() {
    return config.positions();
  }

  /** Returns the number of token ids. */
  public int vocabulary() {
    return config.vocabulary();
  }

  /** Returns whether it has a head that scores pairs of texts. */
  public boolean scores() {
    return weights.head().isPresent();
  }

  /**
   * Returns the vectors of the tokens of texts, one after another, (tokens, hidden). A text's
   * vectors do not depend on the others.
   *
   * @param texts with at least one token each, at most {@link #positions}
   */
  public synchronized float[] encode(List<EncoderText> texts) {
    TextRows rows = new TextRows(texts);
    int count = rows.count();
    int width = config.feedForward();
    float[] x = embed(rows);
    float[] update = new float[count * config.hidden()];
    float[] wide = new float[Math.multiplyExact(count, width)];
    float[] gate = new float[config.family().isGated() ? wide.length : 0];
    BertAttention attention = new BertAttention(config, rows, rotary);
    for (BertWeights.Layer layer : weights.layers()) {
      attention.run(layer, x, products, workers);
      apply(layer.attentionOut(), attention.out(), count, update);
      addAndNormalize(x, update, layer.attentionNorm(), count);
      apply(layer.up(), x, count, wide);
      layer.gate().ifPresent(gates -> apply(gates, x, count, gate));
      workers.run((row, worker) -> activate(wide, gate, row * width, width), count);
      apply(layer.down(), wide, count, update);
      addAndNormalize(x, update, layer.outputNorm(), count);
    }
    return x;
  }

  private static void activate(float[] wide, float[] gate, int at, int width) {
    if (gate.length == 0) {
      Gelu.apply(wide, at, width);
      return;
    }
    for (int i = at; i < at + width; i++) {
      wide[i] *= (float) (gate[i] / (1 + Math.exp(-gate[i])));
    }
  }

  /** Returns the score that the head gives to the first token of a text. */
  public float score(float[] vectors, int at) {
    BertWeights.Head head = weights.head().orElseThrow();
    float[] x = new float[config.hidden()];
    System.arraycopy(vectors, at, x, 0, x.length);
    float[] score = new float[1];
    synchronized (this) {
      if (head.dense().isPresent()) {
        float[] pooled = new float[x.length];
        apply(head.dense().get(), x, 1, pooled);
        for (int i = 0; i < x.length; i++) {
          x[i] = (float) Math.tanh(pooled[i]);
        }
      }
      apply(head.out(), x, 1, score);
    }
    return score[0];
  }

  private float[] embed(TextRows rows) {
    int hidden = config.hidden();
    int types = weights.types().length / hidden;
    float[] x = new float[Math.multiplyExact(rows.count(), hidden)];
    for (int row = 0; row < rows.count(); row++) {
      int type = rows.type(row);
      if (type >= types) {
        throw new InvalidInputException(
            "the tokenizer returns a token of type %d; the model has %d types"
                .formatted(type, types));
      }
      int position = row - rows.begin(row);
      for (int i = 0; i < hidden; i++) {
        x[row * hidden + i] =
            weights.words().value(rows.token(row), i)
                + (rotary == null ? weights.positions()[position * hidden + i] : 0)
                + weights.types()[type * hidden + i];
      }
      LayerNorm.apply(x, row * hidden, hidden, weights.norm(), config.epsilon());
    }
    return x;
  }

  private void apply(Linear linear, float[] from, int count, float[] to) {
    products.multiply(from, count, linear.matrix(), to);
    addBias(linear, count, to);
  }

  static void addBias(Linear linear, int count, float[] to) {
    float[] bias = linear.bias();
    for (int row = 0; row < count; row++) {
      for (int i = 0; i < bias.length; i++) {
        to[row * bias.length + i] += bias[i];
      }
    }
  }

  private void addAndNormalize(float[] x, float[] update, BertWeights.Norm norm, int count) {
    int hidden = config.hidden();
    workers.run(
        (row, worker) -> {
          for (int i = row * hidden; i < (row + 1) * hidden; i++) {
            x[i] += update[i];
          }
          LayerNorm.apply(x, row * hidden, hidden, norm, config.epsilon());
        },
        count);
  }

  @Override
  public synchronized void close() {
    weights.close();
  }
}
