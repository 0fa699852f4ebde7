package dev.kvasir.lab.gradient;

import dev.kvasir.Model;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.Objective.Loss;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Rope;
import dev.kvasir.model.Weights;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A model's decoder that computes a whole text at once, lets a visitor see what every layer attends
 * with, and knows the way back from the loss. Weights are as the model holds them; activations are
 * 32-bit floats and never rounded.
 *
 * <p>The way back computes every layer a second time from its input, so that memory grows with the
 * layers by one (tokens, hidden) each, and not by everything inside them.
 */
public final class TracedDecoder {
  private final ModelConfig config;
  private final Weights weights;
  private final Rope rope;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final WeightProducts products;

  /**
   * @param positionScale what positions are multiplied by: 1 for the model as it is, more to let a
   *     short text look like every so many tokens of a long one
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
    int mostColumns =
        Math.max(
            Math.max(config.hidden(), config.feedForward()),
            config.queryHeads() * config.headDim());
    this.products = new WeightProducts(kernels, workers, mostColumns);
  }

  /** Uses the model's weights, so the model must stay open. */
  public static TracedDecoder of(Model model, double positionScale, WorkerPool workers) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    return new TracedDecoder(model.config(), model.weights(), positionScale, kernels, workers);
  }

  /** Bytes that {@link #gradients} takes at the most: 32-bit floats. */
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

  /** A position counts only through its angles, so scaling the frequencies is scaling it. */
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

  /** What it computes with, for visitors that compute too. */
  public Kernels kernels() {
    return kernels;
  }

  /** Who it computes with; free while a visitor is called. */
  public WorkerPool workers() {
    return workers;
  }

  /**
   * Keys or gradients of keys as they were before rotation, after a model's own norm of them. A
   * rotation keeps products, so gradients turn as keys do.
   *
   * @param keys (tokens, kvHeads, headDim) from the text's first token on; left as they are
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
   * Shows a visitor what all layers attend with.
   *
   * @return whether it went through to the last one
   */
  public boolean forward(int[] tokens, TextVisitor visitor) {
    return lastOutput(tokens, visitor) != null;
  }

  /**
   * Shows a visitor what tokens would attend with if nothing stood around them: attention gives
   * every one the same.
   *
   * @param updates by layer // (layers, hidden)
   * @return whether it went through to the last layer
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

  /** Embeddings of tokens as they enter the first layer. // (tokens, hidden) */
  public float[] embeddings(int[] tokens) {
    return embed(tokens);
  }

  /** The mean cross-entropy of each next token; none where the visitor ended the pass. */
  public OptionalDouble loss(int[] tokens, TextVisitor visitor) {
    checkPredicts(tokens);
    float[] x = lastOutput(tokens, visitor);
    return x == null
        ? OptionalDouble.empty()
        : OptionalDouble.of(head(tokens).loss(x, tokens, new MeanCrossEntropy()).value());
  }

  /**
   * Shows a visitor how the loss depends on the keys and values of every layer.
   *
   * @return the mean cross-entropy of each next token; none where the visitor ended the pass
   */
  public OptionalDouble gradients(int[] tokens, TextVisitor visitor) {
    return gradients(tokens, new MeanCrossEntropy(), visitor).stream()
        .mapToDouble(Loss::value)
        .findAny();
  }

  /**
   * Shows a visitor how the loss of an objective depends on the keys and values of every layer.
   *
   * @return none where the visitor ended the pass
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

  /** Up to where the layer has attended; false where the visitor ended the pass. */
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

  /** The output of the last layer, (tokens, hidden), or null where the visitor ended the pass. */
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
