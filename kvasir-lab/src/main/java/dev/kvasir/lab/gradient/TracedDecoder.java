package dev.kvasir.lab.gradient;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.Objective.Loss;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Weights;
import dev.kvasir.runtime.LoadedModel;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A decoder that computes a whole text at once, shows queries, keys and values of every layer to a
 * visitor, and computes gradients of the loss. Weights are those of the model; activations are
 * 32-bit floats, which the forward pass may round as the engine does ({@link ActivationPrecision}).
 *
 * <p>The backward pass recomputes every layer from its input, so memory grows by one (tokens,
 * hidden) array per layer.
 */
public final class TracedDecoder {
  private final ModelConfig config;
  private final Weights weights;
  private final TracedRopes ropes;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final RowProducts rows;

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
    this(config, weights, positionScale, ActivationPrecision.FLOATS, kernels, workers);
  }

  private TracedDecoder(
      ModelConfig config,
      Weights weights,
      double positionScale,
      ActivationPrecision precision,
      Kernels kernels,
      WorkerPool workers) {
    requireTraceable(config);
    this.config = config;
    this.weights = weights;
    this.ropes = new TracedRopes(config.ropes(), positionScale);
    this.kernels = kernels;
    this.workers = workers;
    int expertWidth = config.experts().map(ExpertConfig::width).orElse(0);
    int maxColumns =
        Math.max(
            Math.max(config.hidden(), Math.max(LayerPass.maxGatedWidth(config), expertWidth)),
            config.queryHeads() * config.headDim());
    this.rows =
        new RowProducts(
            new WeightProducts(kernels, workers, maxColumns, precision), kernels, workers);
  }

  /**
   * Fails for a decoder that cannot be traced.
   *
   * @throws InvalidInputException if it uses latent attention or has recurrent layers
   */
  public static void requireTraceable(ModelConfig config) {
    if (config.latent().isPresent()) {
      throw untraceable(config, "uses latent attention");
    }
    if (config.recurrent().isPresent()) {
      throw untraceable(config, "has recurrent layers");
    }
    if (config.perLayer().isPresent()) {
      throw untraceable(config, "has layers of different sizes");
    }
  }

  private static InvalidInputException untraceable(ModelConfig config, String reason) {
    return new InvalidInputException(
        "%s: calibration requires multi-head attention in every layer; this is a %s model, which %s"
            .formatted(config.name(), config.architecture().identifier(), reason));
  }

  /** Returns a decoder that shares the model's weights; the model must stay open. */
  public static TracedDecoder of(LoadedModel model, double positionScale, WorkerPool workers) {
    return of(model, positionScale, ActivationPrecision.FLOATS, workers);
  }

  /** Returns a decoder that shares the model's weights; the model must stay open. */
  public static TracedDecoder of(
      LoadedModel model, double positionScale, ActivationPrecision precision, WorkerPool workers) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    return new TracedDecoder(
        model.config(), model.weights(), positionScale, precision, kernels, workers);
  }

  /** Returns the maximum bytes that {@link #gradients} allocates. */
  public static long gradientBytes(ModelConfig config, int tokens) {
    double queries = (double) config.queryHeads() * config.headDim();
    double keys = (double) config.kvHeads() * config.headDim();
    double inputs = (double) config.layers() * config.hidden();
    double back = 3.0 * config.hidden() + 2.0 * feedForwardWidth(config) + 4 * queries + 6 * keys;
    double logits =
        (double) LossHead.rowsPerPass(tokens, config.vocabulary()) * config.vocabulary();
    if (config.scales().logitCap() > 0) {
      logits *= 2;
    }
    return forwardBytes(config, tokens)
        + (long) (Float.BYTES * (tokens * (inputs + back) + logits));
  }

  /** Returns the maximum bytes that {@link #forward} allocates. */
  public static long forwardBytes(ModelConfig config, int tokens) {
    double queries = (double) config.queryHeads() * config.headDim();
    double keys = (double) config.kvHeads() * config.headDim();
    double layer = 7.0 * config.hidden() + 3 * queries + 3 * keys + 3.0 * feedForwardWidth(config);
    double experts =
        config.experts().map(sizes -> (double) sizes.used() * config.hidden()).orElse(0.0);
    return (long) (Float.BYTES * tokens * (layer + experts));
  }

  /** Returns the width of a token's widest feed-forward vectors. */
  private static double feedForwardWidth(ModelConfig config) {
    double ofExperts =
        config.experts().map(sizes -> (double) sizes.used() * sizes.width()).orElse(0.0);
    return ofExperts + LayerPass.maxGatedWidth(config);
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
   * Undoes the rotation of a layer's keys, or of gradients of keys; the result is after the model's
   * key norm. Gradients rotate like keys, because a rotation preserves products.
   *
   * @param keys (tokens, kvHeads, headDim) from the first token of the text on; unchanged
   */
  public float[] beforeRotation(int layer, float[] keys) {
    float[] unrotated = keys.clone();
    int width = config.kvHeads() * config.headDim();
    workers.run(
        (token, worker) ->
            ropes.rotate(
                layer, unrotated, token * width, config.headDim(), config.kvHeads(), -token),
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
        pass.prepareBackward();
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
    return new LossHead(config, weights, rows, rowsTogether);
  }

  private LayerPass pass(int tokens) {
    return new LayerPass(config, ropes, rows, tokens);
  }

  private LayerWeights layerWeights(int layer) {
    return weights.layers().get(layer);
  }

  private float[] embed(int[] tokens) {
    float[] x = new float[tokens.length * config.hidden()];
    for (int i = 0; i < tokens.length; i++) {
      kernels.expand(weights.embedding(), tokens[i], 1, x, i * config.hidden());
    }
    rows.scale(x, tokens.length, config.hidden(), config.scales().embedding());
    return x;
  }

  private static void checkPredicts(int[] tokens) {
    if (tokens.length < 2) {
      throw new IllegalArgumentException(
          "a text of %d tokens predicts none; expected at least 2".formatted(tokens.length));
    }
  }
}
