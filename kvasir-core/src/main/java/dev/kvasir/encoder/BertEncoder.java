package dev.kvasir.encoder;

import dev.kvasir.format.GgufFile;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;
import java.nio.file.Path;

/**
 * A BERT model. Embeddings of words, positions and token types are added and normalized; then, in
 * every layer,
 *
 * <pre>
 *   x = norm(x + attention(x))      all tokens attend to all
 *   x = norm(x + down(gelu(up(x))))
 * </pre>
 *
 * <p>One text runs at a time, on all threads.
 */
public final class BertEncoder implements AutoCloseable {
  private final BertConfig config;
  private final BertWeights weights;
  private final MatrixProducts products;
  private final WorkerPool workers;

  private BertEncoder(BertConfig config, BertWeights weights, Kernels kernels, WorkerPool workers) {
    this.config = config;
    this.weights = weights;
    this.products = new MatrixProducts(kernels, workers);
    this.workers = workers;
  }

  /** Returns whether a config.json is that of an encoder that this class runs. */
  public static boolean isEncoder(JsonFile config) {
    return config.string("model_type").filter(BertConfig.MODEL_TYPE::equals).isPresent();
  }

  /** Loads a Hugging Face folder. */
  public static BertEncoder load(Path folder, Kernels kernels, WorkerPool workers) {
    BertConfig config =
        BertConfig.of(JsonFile.read(SafetensorsFolder.require(folder, "config.json")));
    try (SafetensorsFolder file = SafetensorsFolder.open(folder)) {
      return new BertEncoder(config, BertWeights.load(config, file), kernels, workers);
    }
  }

  /** Returns whether a GGUF file is that of an encoder that this class runs. */
  public static boolean isEncoder(GgufFile file) {
    return file.metadata()
        .string("general.architecture")
        .filter(BertConfig.MODEL_TYPE::equals)
        .isPresent();
  }

  /** Loads a GGUF file, which may be closed afterwards. Quantized weights become floats. */
  public static BertEncoder load(GgufFile file, Kernels kernels, WorkerPool workers) {
    BertConfig config = BertConfig.of(file);
    return new BertEncoder(config, BertWeights.load(config, file), kernels, workers);
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

  /**
   * Returns the vectors of tokens, (tokens, hidden).
   *
   * @param tokens at least one, at most {@link #positions}
   */
  public synchronized float[] encode(int[] tokens) {
    int count = tokens.length;
    float[] x = embed(tokens);
    float[] update = new float[count * config.hidden()];
    float[] wide = new float[count * config.feedForward()];
    BertAttention attention = new BertAttention(config, count);
    for (BertWeights.Layer layer : weights.layers()) {
      attention.run(layer, x, products, workers);
      apply(layer.attentionOut(), attention.out(), count, update);
      addAndNormalize(x, update, layer.attentionNorm(), count);
      apply(layer.up(), x, count, wide);
      workers.run(
          (row, worker) -> Gelu.apply(wide, row * config.feedForward(), config.feedForward()),
          count);
      apply(layer.down(), wide, count, update);
      addAndNormalize(x, update, layer.outputNorm(), count);
    }
    return x;
  }

  private float[] embed(int[] tokens) {
    int hidden = config.hidden();
    float[] x = new float[tokens.length * hidden];
    for (int row = 0; row < tokens.length; row++) {
      for (int i = 0; i < hidden; i++) {
        x[row * hidden + i] =
            weights.words()[tokens[row] * hidden + i]
                + weights.positions()[row * hidden + i]
                + weights.types()[i];
      }
      LayerNorm.apply(x, row * hidden, hidden, weights.norm(), config.epsilon());
    }
    return x;
  }

  private void apply(BertWeights.Linear linear, float[] from, int count, float[] to) {
    products.multiply(from, count, linear.matrix(), to);
    addBias(linear, count, to);
  }

  static void addBias(BertWeights.Linear linear, int count, float[] to) {
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
