package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * The sequences of a step whose caches want to know how much tokens are looked at. Takes no memory
 * and no time as long as there are none.
 */
final class Receivers {
  private final AttentionShape shape;
  private final Kernels kernels;
  private final Crew crew;
  private final UnpackedWeights[] weights; // of each worker, once there was anybody
  private final Crew.Work tell = this::tell;

  private int count;
  private KvCache[] caches = {};
  private int[] firstRows = {};
  private int[] rowCounts = {};
  private int[] positions = {};
  private float[] logSums = {}; // (rows, queryHeads)

  private int layer;
  private int window;
  private float[] queries;

  Receivers(AttentionShape shape, Kernels kernels, Crew crew) {
    this.shape = shape;
    this.kernels = kernels;
    this.crew = crew;
    this.weights = new UnpackedWeights[crew.size()];
  }

  /** Forgets those of the last step. */
  void begin() {
    Arrays.fill(caches, 0, count, null);
    count = 0;
  }

  /** Adds a sequence's rows of the step, if it wants to know. */
  void add(KvCache cache, int firstRow, int rows, int position) {
    if (cache.receivingQueries() <= 0) {
      return;
    }
    makeRoom((firstRow + rows) * shape.queryHeads());
    caches[count] = cache;
    firstRows[count] = firstRow;
    rowCounts[count] = rows;
    positions[count] = position;
    count++;
  }

  private void makeRoom(int heads) {
    if (weights[0] == null) {
      Arrays.setAll(weights, worker -> new UnpackedWeights(shape, kernels));
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
   * The logarithm of what a head's exponentials add up to, for every head of the rows that were
   * added: attention leaves it here. // (rows, queryHeads)
   */
  float[] logSums() {
    return logSums;
  }

  /** Tells them what a layer's queries give, after its attention. */
  void tell(int atLayer, int attentionWindow, float[] rotatedQueries) {
    if (count > 0) {
      layer = atLayer;
      window = attentionWindow;
      queries = rotatedQueries;
      crew.run(tell, count * shape.kvHeads());
    }
  }

  private void tell(int part, int worker) {
    int receiver = part / shape.kvHeads();
    weights[worker].tell(
        caches[receiver],
        layer,
        part % shape.kvHeads(),
        window,
        firstRows[receiver],
        rowCounts[receiver],
        positions[receiver],
        queries,
        logSums);
  }
}
