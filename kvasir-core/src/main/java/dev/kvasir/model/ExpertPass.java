package dev.kvasir.model;

import dev.kvasir.kernel.GroupedProducts;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;

/**
 * Mixtures of experts over the rows of a step, with their workspace. A pair is a row and one of its
 * experts. Pairs are grouped by expert, so that each selected expert's weights are read once for
 * all its rows. All experts run as one parallel task. A row's result depends on its own input only:
 * its pairs are summed in the order of selection.
 */
final class ExpertPass {
  private final int hidden;
  private final int vectors; // width of what experts read and write
  private final ExpertConfig config;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final GroupedProducts grouped;
  private final MatrixProducts products;
  private final GatedPass gated;
  private final ExpertRouter[] routers; // one per worker

  private float[] scores = {}; // (rows, experts)
  private float[] sharedWeights = {}; // (rows)
  private float[] sharedUpdate = {}; // (rows, hidden)
  private int[] chosen = {}; // (rows, used)
  private float[] expertWeights = {}; // (rows, used)
  private int[] pairs = {}; // (rows, used), index of the pair

  private int[] experts = {}; // (pairs)
  private float[] gathered = {}; // (pairs, vectors), inputs of the experts
  private float[] gate = {}; // (pairs, width)
  private float[] up = {}; // (pairs, width)
  private float[] outputs = {}; // (pairs, vectors)
  private float[] latentInput = {}; // (rows, vectors), empty without latent vectors
  private float[] latentSum = {}; // (rows, vectors), likewise
  private final int[] ends; // by expert: end of its pairs

  private ExpertWeights weights;
  private float[] routed; // (rows, hidden), inputs of the router
  private float[] input; // (rows, vectors)
  private float[] sum; // (rows, vectors), of the experts' outputs
  private float[] update; // (rows, hidden)

  private final WorkerPool.ParallelTask choose = this::choose;
  private final WorkerPool.ParallelTask gather = this::gather;
  private final WorkerPool.ParallelTask activate = this::activate;
  private final WorkerPool.ParallelTask combine = this::combine;
  private final WorkerPool.ParallelTask addShared = this::addShared;

  /**
   * @param gated runs the shared expert
   */
  ExpertPass(
      int hidden,
      ExpertConfig config,
      Kernels kernels,
      WorkerPool workers,
      GroupedProducts grouped,
      GatedPass gated) {
    this.hidden = hidden;
    this.vectors = config.vectors(hidden);
    this.config = config;
    this.kernels = kernels;
    this.workers = workers;
    this.grouped = grouped;
    this.products = new MatrixProducts(grouped);
    this.gated = gated;
    this.routers = new ExpertRouter[workers.size()];
    Arrays.setAll(routers, worker -> new ExpertRouter(config));
    this.ends = new int[config.count()];
  }

  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows) {
    int most = rows * config.used();
    scores = new float[rows * config.count()];
    chosen = new int[most];
    expertWeights = new float[most];
    pairs = new int[most];
    experts = new int[most];
    gathered = new float[most * vectors];
    gate = new float[most * config.width()];
    up = new float[most * config.width()];
    outputs = new float[most * vectors];
    if (config.latent() > 0) {
      latentInput = new float[rows * vectors];
      latentSum = new float[rows * vectors];
    }
    if (config.sharedWidth() > 0) {
      sharedWeights = new float[rows];
      sharedUpdate = new float[rows * hidden];
    }
  }

  /**
   * @param routerInput what experts are selected by // (rows, hidden)
   * @param normed normalized input of the layer // (rows, hidden)
   * @param out output // (rows, hidden)
   */
  void run(ExpertWeights layer, float[] routerInput, float[] normed, int rows, float[] out) {
    weights = layer;
    routed = routerInput;
    input = normed;
    sum = out;
    update = out;
    if (weights.latent().isPresent()) {
      input = latentInput;
      sum = latentSum;
      products.multiply(normed, rows, weights.latent().get().down(), latentInput);
    }
    route(rows);
    workers.run(gather, rows);
    int all = rows * config.used();
    grouped.begin(gathered, all, vectors);
    for (int expert = 0; expert < config.count(); expert++) {
      switch (weights.experts().get(expert)) {
        case GatedWeights gated -> {
          add(expert, gated.gate(), gate);
          add(expert, gated.up(), up);
        }
        case UngatedWeights plain -> add(expert, plain.up(), up);
        default -> throw new IllegalStateException("an expert of other parts");
      }
    }
    grouped.run();
    workers.run(activate, all);
    grouped.begin(config.activation().isGated() ? gate : up, all, config.width());
    for (int expert = 0; expert < config.count(); expert++) {
      add(expert, down(expert), outputs);
    }
    grouped.run();
    if (weights.shared().isPresent()) {
      gated.run(weights.shared().get().weights(), normed, rows, sharedUpdate);
    }
    workers.run(combine, rows);
    if (weights.latent().isPresent()) {
      products.multiply(latentSum, rows, weights.latent().get().up(), update);
    }
    if (weights.shared().isPresent()) {
      workers.run(addShared, rows);
    }
  }

  private Projection down(int expert) {
    return switch (weights.experts().get(expert)) {
      case GatedWeights gated -> gated.down();
      case UngatedWeights plain -> plain.down();
      default -> throw new IllegalStateException("an expert of other parts");
    };
  }

  private void add(int expert, Projection projection, float[] out) {
    int first = expert == 0 ? 0 : ends[expert - 1];
    if (first < ends[expert]) {
      grouped.add(projection.matrix(), first, ends[expert], out);
    }
  }

  private void route(int rows) {
    if (hasSharedGate()) {
      products.multiply(
          routed,
          rows,
          weights.router().matrix(),
          scores,
          weights.shared().get().gate().get(),
          sharedWeights);
    } else {
      products.multiply(routed, rows, weights.router().matrix(), scores);
    }
    workers.run(choose, rows);
    groupByExpert(rows);
  }

  private boolean hasSharedGate() {
    return weights.shared().isPresent() && weights.shared().get().gate().isPresent();
  }

  private void choose(int row, int worker) {
    int at = row * config.count();
    weights.router().addBias(kernels, scores, at);
    routers[worker].route(
        kernels.rows(),
        scores,
        at,
        weights.correction(),
        chosen,
        expertWeights,
        row * config.used());
    for (int i = row * config.used();
        weights.scales().length > 0 && i < (row + 1) * config.used();
        i++) {
      expertWeights[i] *= weights.scales()[chosen[i]];
    }
  }

  /** Orders pairs by expert, then by row. */
  private void groupByExpert(int rows) {
    int all = rows * config.used();
    Arrays.fill(ends, 0);
    for (int i = 0; i < all; i++) {
      ends[chosen[i]]++;
    }
    int begin = 0;
    for (int expert = 0; expert < ends.length; expert++) {
      int count = ends[expert];
      ends[expert] = begin;
      begin += count;
    }
    for (int i = 0; i < all; i++) {
      int place = ends[chosen[i]]++;
      pairs[i] = place;
      experts[place] = chosen[i];
    }
  }

  private void gather(int row, int worker) {
    for (int i = row * config.used(); i < (row + 1) * config.used(); i++) {
      System.arraycopy(input, row * vectors, gathered, pairs[i] * vectors, vectors);
    }
  }

  private void activate(int pair, int worker) {
    int at = pair * config.width();
    switch (weights.experts().get(experts[pair])) {
      case GatedWeights gated -> gated.activate(kernels, gate, up, at);
      case UngatedWeights plain -> plain.activate(kernels, up, at);
      default -> throw new IllegalStateException("an expert of other parts");
    }
  }

  private void combine(int row, int worker) {
    int to = row * vectors;
    Arrays.fill(sum, to, to + vectors, 0);
    for (int i = row * config.used(); i < (row + 1) * config.used(); i++) {
      int at = pairs[i] * vectors;
      weights.experts().get(chosen[i]).addOutputBias(kernels, outputs, at);
      addWeighted(sum, to, outputs, at, vectors, expertWeights[i]);
    }
  }

  private void addShared(int row, int worker) {
    int at = row * hidden;
    weights.shared().get().weights().addOutputBias(kernels, sharedUpdate, at);
    addWeighted(update, at, sharedUpdate, at, hidden, sharedWeight(row));
  }

  private float sharedWeight(int row) {
    if (!hasSharedGate()) {
      return 1;
    }
    ExpertRouter.sigmoid(kernels.rows(), sharedWeights, row, 1);
    return sharedWeights[row];
  }

  private void addWeighted(float[] to, int toAt, float[] from, int at, int count, float weight) {
    if (weight != 1) {
      kernels.rows().scale(from, at, count, weight);
    }
    kernels.rows().add(to, toAt, from, at, count);
  }
}
