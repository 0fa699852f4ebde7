package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.Objective.Loss;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Rope;
import dev.kvasir.model.Weights;
import dev.kvasir.runtime.LoadedModel;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A decoder that computes a whole text at once, shows queries, keys and values of every layer to a
 * visitor, and computes gradients of the loss. Weights are those of the model; activations are
 * 32-bit floats without quantization.
 *
 * <p>The backward pass recomputes every layer from its input, so memory grows by one (tokens,
 * hidden) array per layer.
 */
public final class TracedDecoder {
  private final ModelConfig config;
  private final Weights weights;
  private final Rope rope;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final WeightProducts products;

  /**
   * @param positionScale factor for positions: 1 for the unchanged model, more to make a short text
   *     resemble a subsampled long one
   */
  public TracedDecoder(
      ModelConfig config,
      Weights weights,
      double positionScale,
      Kernels kernels,
      WorkerPool workers) {
    config.requirePlain("calibration");
    this.config = config;
    this.weights = weights;
    this.rope = scaledRope(config.rope(), positionScale);
    this.kernels = kernels;
    this.workers = workers;
    int maxColumns =
        Math.max(
            Math.max(config.hidden(), config.feedForward()),
            config.queryHeads() * config.headDim());
    this.products = new WeightProducts(kernels, workers, maxColumns);
  }

  /** Returns a decoder that shares the model's weights; the model must stay open. */
  public static TracedDecoder of(LoadedModel model, double positionScale, WorkerPool workers) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    return new TracedDecoder(model.config(), model.weights(), positionScale, kernels, workers);
  }

  /** Returns the maximum bytes that {@link #gradients} allocates. */
  public static long gradientBytes(ModelConfig config, int tokens) {
    double queries = (double) config.queryHeads() * config.headDim();
    double keys = (double) config.kvHeads() * config.headDim();
    double inputs = (config.layers() + 2.0) * config.hidden();
    double layer = 2.0 * config.hidden() + 3 * queries + 3 * keys + 3.0 * config.feedForward();
    double back = config.hidden() + 2.0 * config.feedForward() + 4 * queries + 6 * keys;
    double logits =
        (double) LossHead.rowsPerPass(tokens, config.vocabulary()) * config.vocabulary();
    return (long) (Float.BYTES * (tokens * (inputs + layer + back) + logits));
  }

  /** Scales frequencies instead of positions, which has the same effect on the angles. */
  private static Rope scaledRope(ModelConfig.RopeSettings settings, double positionScale) {
    float[] frequencies = settings.frequencies().of(settings.base(), settings.dimensions());
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] *= (float) positionScale;
    }
    return new Rope(settings.layout(), frequencies);
  }

  public ModelConfig config() {
    return config;
  }

  /** Returns the kernels, for visitors that compute too. */
  public Kernels kernels() {
    return kernels;
  }

  /** Returns the worker pool, which is idle while a visitor is called. */
  public WorkerPool workers() {
    return workers;
  }

  /**
   * Undoes the rotation of keys, or of gradients of keys; the result is after the model's key norm.
   * Gradients rotate like keys, because a rotation preserves products.
   *
   * @param keys (tokens, kvHeads, headDim) from the first token of the text on; unchanged
   */
  public float[] beforeRotation(float[] keys) {
    float[] unrotated = keys.clone();
    int width = config.kvHeads() * config.headDim();
    workers.run(
        (token, worker) ->
            rope.rotate(unrotated, token * width, config.headDim(), config.kvHeads(), -token),
        keys.length / width);
    return unrotated;
  }

  /**
   * Runs the forward pass.
   *
   * @return whether the pass reached the last layer
   */
  public boolean forward(int[] tokens, TextVisitor visitor) {
    return lastOutput(tokens, visitor) != null;
  }

  /**
   * Runs tokens without context: every token gets the same attention output.
   *
   * @param updates by layer // (layers, hidden)
   * @return whether the pass reached the last layer
   */
  public boolean withoutContext(int[] tokens, float[][] updates, TextVisitor visitor) {
    LayerPass pass = pass(tokens.length);
    float[] x = embed(tokens);
    for (int layer = 0; layer < config.layers(); layer++) {
      if (!visitor.forward(pass.project(layer, layerWeights(layer), x))) {
        return false;
      }
      pass.overrideAttention(updates[layer]);
      x = pass.finish();
    }
    return true;
  }

  /** Returns the embeddings of tokens as the input of the first layer. // (tokens, hidden) */
  public float[] embeddings(int[] tokens) {
    return embed(tokens);
  }

  /** Returns the mean cross-entropy of all next tokens; empty if the visitor ended the pass. */
  public OptionalDouble loss(int[] tokens, TextVisitor visitor) {
    checkPredicts(tokens);
    float[] x = lastOutput(tokens, visitor);
    return x == null
        ? OptionalDouble.empty()
        : OptionalDouble.of(head(tokens).loss(x, tokens, new MeanCrossEntropy()).value());
  }

  /**
   * Computes the gradients of the cross-entropy with respect to the keys and values of every layer.
   *
   * @return the mean cross-entropy of all next tokens; empty if the visitor ended the pass
   */
  public OptionalDouble gradients(int[] tokens, TextVisitor visitor) {
    return gradients(tokens, new MeanCrossEntropy(), visitor).stream()
        .mapToDouble(Loss::value)
        .findAny();
  }

  /**
   * Computes the gradients of an objective with respect to the keys and values of every layer.
   *
   * @return empty if the visitor ended the pass
   */
  public Optional<Loss> gradients(int[] tokens, Objective objective, TextVisitor visitor) {
    checkPredicts(tokens);
    LayerPass pass = pass(tokens.length);
    float[][] x = new float[config.layers() + 1][]; // (tokens, hidden) each
    x[0] = embed(tokens);
    for (int layer = 0; layer < config.layers(); layer++) {
      if (!attend(pass, layer, x[layer], visitor)) {
        return Optional.empty();
      }
      x[layer + 1] = pass.finish();
    }
    float[] dx = new float[x[0].length];
    Loss loss = head(tokens).lossAndGradients(x[config.layers()], tokens, objective, dx);
    return backward(pass, x, dx, visitor) ? Optional.of(loss) : Optional.empty();
  }

  /** Computes the layer up to its attention output; false if the visitor ended the pass. */
  private boolean attend(LayerPass pass, int layer, float[] x, TextVisitor visitor) {
    return visitor.forward(pass.project(layer, layerWeights(layer), x))
        && visitor.afterAttention(pass.attend());
  }

  private boolean backward(LayerPass pass, float[][] x, float[] dx, TextVisitor visitor) {
    int queryValues = config.queryHeads() * config.headDim();
    float[] dQueries = new float[dx.length / config.hidden() * queryValues];
    OptionalInt farDistance = visitor.farDistance();
    for (int layer = config.layers() - 1; layer >= 0; layer--) {
      boolean alreadyComputed = layer == config.layers() - 1;
      if (!alreadyComputed) {
        attend(pass, layer, x[layer], TextVisitor.NONE);
        pass.computeGates();
      }
      LayerGradients gradients = pass.backwardToVectors(dx, dQueries, farDistance);
      if (!visitor.backward(gradients)) {
        return false;
      }
      if (layer > 0) {
        pass.backwardToInput(gradients, dQueries, dx);
      }
      x[layer] = null;
    }
    return true;
  }

  /**
   * Returns the output of the last layer, (tokens, hidden), or null if the visitor ended the pass.
   */
  float[] lastOutput(int[] tokens, TextVisitor visitor) {
    LayerPass pass = pass(tokens.length);
    float[] x = embed(tokens);
    for (int layer = 0; layer < config.layers(); layer++) {
      if (!attend(pass, layer, x, visitor)) {
        return null;
      }
      x = pass.finish();
    }
    return x;
  }

  private LossHead head(int[] tokens) {
    return head(LossHead.rowsPerPass(tokens.length, config.vocabulary()));
  }

  LossHead head(int rowsTogether) {
    return new LossHead(config, weights, products, kernels, workers, rowsTogether);
  }

  private LayerPass pass(int tokens) {
    return new LayerPass(config, rope, products, kernels, workers, tokens);
  }

  private LayerWeights layerWeights(int layer) {
    return weights.layers().get(layer);
  }

  private float[] embed(int[] tokens) {
    float[] x = new float[tokens.length * config.hidden()];
    for (int i = 0; i < tokens.length; i++) {
      kernels.expand(weights.embedding(), tokens[i], 1, x, i * config.hidden());
    }
    return x;
  }

  private static void checkPredicts(int[] tokens) {
    if (tokens.length < 2) {
      throw new IllegalArgumentException(
          "a text of %d tokens predicts none; expected at least 2".formatted(tokens.length));
    }
  }
}
