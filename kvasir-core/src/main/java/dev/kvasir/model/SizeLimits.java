package dev.kvasir.model;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;

/** Limits on products of sizes, since arrays and block rows are indexed by ints. */
final class SizeLimits {
  /** Most vectors in one array: a page of tokens, or a tile of weights. */
  private static final int MAX_ROWS_TOGETHER = 128;

  private static final int MAX_WIDTH = Integer.MAX_VALUE / MAX_ROWS_TOGETHER;

  private SizeLimits() {}

  /** Fails for a model whose sizes exceed an array; errors name the file they came from. */
  static void check(String fileName, ModelConfig config) {
    long wide = widest(config);
    if (wide > MAX_WIDTH) {
      throw new InvalidInputException(
          "%s: has vectors of %d channels; expected at most %d"
              .formatted(fileName, wide, MAX_WIDTH));
    }
    long heads = 0;
    for (int layer = 0; layer < config.layers(); layer++) {
      heads += config.heads(layer).kvHeads();
    }
    if (heads > CacheShape.MAX_HEADS) {
      throw new InvalidInputException(
          "%s: has %d KV heads in all layers; expected at most %d"
              .formatted(fileName, heads, CacheShape.MAX_HEADS));
    }
  }

  /** Fails for a step whose activations exceed an array. */
  static void check(ModelConfig config, Batch batch) {
    int mostRows =
        Math.min(
            WorkerPool.MAX_PARTS / expertsPerToken(config),
            Math.toIntExact(Integer.MAX_VALUE / widest(config)));
    if (batch.rows() > mostRows) {
      throw new IllegalArgumentException(
          "the batch has %d rows; expected at most %d".formatted(batch.rows(), mostRows));
    }
    int mostLogits = Integer.MAX_VALUE / config.vocabulary();
    if (batch.logitRows() > mostLogits) {
      throw new IllegalArgumentException(
          "the batch wants logits of %d rows; expected at most %d"
              .formatted(batch.logitRows(), mostLogits));
    }
  }

  private static int expertsPerToken(ModelConfig config) {
    return config.experts().isPresent() ? config.experts().get().used() : 1;
  }

  /**
   * Returns the width of the widest vector. Every step calls it, so it must not allocate; lambdas
   * do until they are compiled.
   */
  private static long widest(ModelConfig config) {
    int gates = config.architecture().traits().hasGatedQueries() ? 2 : 1;
    long heads = gates * config.widestHeads();
    long latent =
        config.latent().isPresent() ? config.latent().get().widest(config.queryHeads()) : 0;
    long inner = Math.max(config.hidden(), config.feedForward());
    long states = config.recurrent().isPresent() ? config.recurrent().get().sizes().widest() : 0;
    long widest = Math.max(Math.max(Math.max(heads, latent), inner), states);
    return config.experts().isPresent()
        ? Math.max(widest, config.experts().get().widest(config.hidden()))
        : widest;
  }
}
