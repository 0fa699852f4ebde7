package dev.kvasir.model;

import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Preemption;
import dev.kvasir.kernel.GroupedProducts;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.List;
import java.util.Optional;

/**
 * One step of the decoder over the rows of a batch, with its workspace. Row-wise work is prepared
 * once as {@link WorkerPool.ParallelTask}, so that a step allocates nothing.
 */
final class ForwardPass {
  private final ModelConfig config;
  private final Scales scales;
  private final Weights weights;
  private final Kernels kernels;
  private final PreemptibleWorkers workers;
  private final MatrixProducts products;
  private final LayerAttention attention;
  private final StepRows rows;
  private final StepAngles angles;
  private final AttentionPass attentionPass;
  private final AttentionPass recurrentPass; // null if all layers have attention
  private final FeedForwardPass feedForward;
  private final LayerInputPass layerInputs; // null if layers add no embeddings of tokens

  private float[] x = {}; // (rows, hidden), the residual stream
  private float[] normed = {}; // (rows, hidden)
  private float[] update = {}; // (rows, hidden)
  private int capacity;

  private LayerWeights layer;
  private float[] logits;

  private final WorkerPool.ParallelTask embed = this::embed;
  private final WorkerPool.ParallelTask normalizeForAttention = this::normalizeForAttention;
  private final WorkerPool.ParallelTask addAttention = this::addAttention;
  private final WorkerPool.ParallelTask addFeedForward = this::addFeedForward;
  private final WorkerPool.ParallelTask scaleOutput = this::scaleOutput;
  private final WorkerPool.ParallelTask capLogits = this::capLogits;

  ForwardPass(
      ModelConfig config,
      Weights weights,
      List<Rope> ropes,
      Optional<OutlierScaling> outliers,
      Kernels kernels,
      WorkerPool pool) {
    this.config = config;
    this.scales = config.scales();
    this.weights = weights;
    this.kernels = kernels;
    this.workers = new PreemptibleWorkers(pool);
    GroupedProducts grouped = new GroupedProducts(kernels, workers);
    this.products = new MatrixProducts(grouped);
    this.attention = new LayerAttention(config, kernels, workers);
    this.rows = new StepRows(Math.toIntExact(config.widestQueries()));
    this.angles = new StepAngles(config.ropes(), ropes);
    this.attentionPass =
        config.latent().isPresent()
            ? new LatentPass(config, kernels, workers, products, attention, rows, angles)
            : new MultiHeadPass(
                config, kernels, workers, products, attention, rows, angles, outliers);
    this.recurrentPass = config.recurrent().map(this::recurrentPass).orElse(null);
    this.feedForward = new FeedForwardPass(config, kernels, workers, grouped);
    this.layerInputs =
        weights
            .tokenInputs()
            .map(tokens -> new LayerInputPass(config, tokens, kernels, workers, products, rows))
            .orElse(null);
  }

  private AttentionPass recurrentPass(RecurrentConfig recurrent) {
    return switch (recurrent.sizes()) {
      case ShortConvConfig sizes ->
          new ShortConvPass(recurrent, sizes, kernels, workers, products, rows);
      case DeltaNetConfig sizes ->
          new DeltaNetPass(
              recurrent, sizes, config.normEpsilon(), kernels, workers, products, rows);
      case Mamba2Config sizes ->
          new Mamba2Pass(recurrent, sizes, config.normEpsilon(), kernels, workers, products, rows);
    };
  }

  /**
   * Runs a step.
   *
   * @param preemption what may run in its midst; null for nothing
   */
  void run(Batch batch, Preemption preemption) {
    workers.preemption(preemption);
    try {
      run(batch);
      if (preemption != null) {
        preemption.finished(workers.longestNanos());
      }
    } finally {
      workers.preemption(null);
    }
  }

  private void run(Batch batch) {
    int count = batch.rows();
    ensureCapacity(count);
    rows.begin(batch, attention);
    workers.run(embed, count);
    if (layerInputs != null) {
      layerInputs.begin(x);
    }
    for (int index = 0; index < config.layers(); index++) {
      layer = weights.layers().get(index);
      boolean attends = runAttention(index, count);
      if (index == config.layers() - 1) {
        count = gatherRowsWithOutput(batch);
      }
      if (count > 0) {
        workers.run(attends ? addAttention : normalizeForAttention, count);
        runFeedForward(index, count);
        finishLayer(index, count);
      }
    }
    computeLogits(batch);
    rows.end(attention);
  }

  /** Runs the attention or the recurrent part of a layer; returns whether it has any. */
  private boolean runAttention(int index, int count) {
    boolean isRecurrent = config.isRecurrent(index);
    if (!isRecurrent && !config.attends(index)) {
      return false;
    }
    workers.run(normalizeForAttention, count);
    (isRecurrent ? recurrentPass : attentionPass).run(index, layer, normed, update);
    return true;
  }

  private void runFeedForward(int index, int count) {
    if (config.hasFeedForward(index)) {
      feedForward.run(layer.feedForward(), x, normed, count, update);
      workers.run(addFeedForward, count);
    }
  }

  /** Adds the token's embedding in a layer and scales its output, in families that do. */
  private void finishLayer(int index, int count) {
    if (layer.input().isPresent()) {
      layerInputs.run(index, layer.input().get(), x, count);
    }
    if (layer.outputScale() != 1) {
      workers.run(scaleOutput, count);
    }
  }

  /**
   * Moves the rows with logits or hidden states to the front. Only they are needed after the last
   * layer's attention, and a prompt has one.
   *
   * @return the number of these rows
   */
  private int gatherRowsWithOutput(Batch batch) {
    int hidden = config.hidden();
    for (int i = 0; i < batch.outputRows(); i++) {
      int from = batch.rowWithOutput(i) * hidden; // rising, so nothing is overwritten
      System.arraycopy(x, from, x, i * hidden, hidden);
      System.arraycopy(update, from, update, i * hidden, hidden);
      if (layerInputs != null) {
        layerInputs.move(batch.rowWithOutput(i), i);
      }
    }
    return batch.outputRows();
  }

  private void ensureCapacity(int count) {
    if (count <= capacity) {
      return;
    }
    x = new float[count * config.hidden()];
    normed = new float[count * config.hidden()];
    update = new float[count * config.hidden()];
    rows.ensureCapacity(count);
    angles.ensureCapacity(count);
    attentionPass.ensureCapacity(count);
    if (recurrentPass != null) {
      recurrentPass.ensureCapacity(count);
    }
    feedForward.ensureCapacity(count);
    if (layerInputs != null) {
      layerInputs.ensureCapacity(count);
    }
    capacity = count;
  }

  private void embed(int row, int worker) {
    int at = row * config.hidden();
    kernels.expand(weights.embedding(), rows.batch().token(row), 1, x, at);
    scale(x, at, config.hidden(), scales.embedding());
    angles.set(row, rows.batch().position(row));
  }

  private void normalizeForAttention(int row, int worker) {
    normalize(x, row, layer.attentionNorm(), normed, row);
  }

  private void addAttention(int row, int worker) {
    layer.attention().output().addBias(kernels, update, row * config.hidden());
    addUpdate(row, layer.attentionOutNorm());
    normalize(x, row, layer.feedForwardNorm(), normed, row);
  }

  private void addFeedForward(int row, int worker) {
    layer.feedForward().addOutputBias(kernels, update, row * config.hidden());
    addUpdate(row, layer.feedForwardOutNorm());
  }

  private void scaleOutput(int row, int worker) {
    scale(x, row * config.hidden(), config.hidden(), layer.outputScale());
  }

  private void addUpdate(int row, float[] norm) {
    int at = row * config.hidden();
    if (norm.length > 0) {
      normalize(update, row, norm, update, row);
    }
    scale(update, at, config.hidden(), scales.residual());
    kernels.rows().add(x, at, update, at, config.hidden());
  }

  private void normalize(float[] from, int row, float[] weight, float[] to, int toRow) {
    int hidden = config.hidden();
    if (weight.length == 0) {
      System.arraycopy(from, row * hidden, to, toRow * hidden, hidden);
    } else {
      float epsilon = config.normEpsilon();
      kernels.rows().rmsNorm(from, row * hidden, weight, epsilon, to, toRow * hidden, hidden);
    }
  }

  private void scale(float[] numbers, int at, int count, float factor) {
    if (factor != 1) {
      kernels.rows().scale(numbers, at, count, factor);
    }
  }

  private void computeLogits(Batch batch) {
    int wanted = batch.logitRows();
    float[] states = batch.allocateHiddenStates(config.hidden());
    for (int i = 0; i < batch.stateRows(); i++) {
      normalize(x, batch.outputOfState(i), weights.outputNorm(), states, i);
    }
    logits = batch.allocateLogits(config.vocabulary());
    if (wanted == 0) {
      return;
    }
    for (int i = 0; i < wanted; i++) {
      normalize(x, batch.outputOfLogits(i), weights.outputNorm(), normed, i);
    }
    products.multiply(normed, wanted, weights.output(), logits);
    if (scales.logit() != 1 || scales.logitCap() > 0) {
      workers.run(capLogits, wanted);
    }
  }

  private void capLogits(int row, int worker) {
    int count = config.vocabulary();
    scale(logits, row * count, count, scales.logit());
    if (scales.logitCap() > 0) {
      RowKernels.softCap(logits, row * count, count, scales.logitCap());
    }
  }
}
