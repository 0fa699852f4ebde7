package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;

/**
 * The sequences of a step whose caches observe attention mass. It uses neither memory nor time
 * while there are none.
 */
final class AttentionObservers {
  private final AttentionShape shape;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final AttentionMass[] weights; // by worker, once there is an observer
  private final WorkerPool.ParallelTask report = this::report;

  private int count;
  private KvCache[] caches = {};
  private int[] firstRows = {};
  private int[] rowCounts = {};
  private int[] positions = {};
  private float[] logSums = {}; // (rows, queryHeads)

  private int layer;
  private int window;
  private float[] queries;

  AttentionObservers(AttentionShape shape, Kernels kernels, WorkerPool workers) {
    this.shape = shape;
    this.kernels = kernels;
    this.workers = workers;
    this.weights = new AttentionMass[workers.size()];
  }

  /** Drops the sequences of the last step. */
  void begin() {
    Arrays.fill(caches, 0, count, null);
    count = 0;
  }

  /** Adds a sequence's rows of the step if its cache observes attention. */
  void add(KvCache cache, int firstRow, int rows, int position) {
    if (cache.observer().attentionHorizon() <= 0) {
      return;
    }
    ensureCapacity((firstRow + rows) * shape.queryHeads());
    caches[count] = cache;
    firstRows[count] = firstRow;
    rowCounts[count] = rows;
    positions[count] = position;
    count++;
  }

  private void ensureCapacity(int heads) {
    if (weights[0] == null) {
      Arrays.setAll(weights, worker -> new AttentionMass(shape, kernels));
    }
    if (logSums.length < heads) {
      logSums = new float[heads];
    }
    if (count == caches.length) {
      int size = Math.max(4, 2 * count);
      caches = Arrays.copyOf(caches, size);
      firstRows = Arrays.copyOf(firstRows, size);
      rowCounts = Arrays.copyOf(rowCounts, size);
      positions = Arrays.copyOf(positions, size);
    }
  }

  /**
   * Returns the log-sum-exp of every head of the added rows, which attention writes here: (rows,
   * queryHeads).
   */
  float[] logSums() {
    return logSums;
  }

  /** Reports the attention of a layer's queries to the caches, after that layer has attended. */
  void report(int atLayer, int attentionWindow, float[] rotatedQueries) {
    if (count > 0) {
      layer = atLayer;
      window = attentionWindow;
      queries = rotatedQueries;
      workers.run(report, count * shape.kvHeads());
    }
  }

  private void report(int part, int worker) {
    int observer = part / shape.kvHeads();
    weights[worker].report(
        caches[observer],
        layer,
        part % shape.kvHeads(),
        window,
        firstRows[observer],
        rowCounts[observer],
        positions[observer],
        queries,
        logSums);
  }
}
