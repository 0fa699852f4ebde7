package dev.kvasir.lab.rotate;

import dev.kvasir.kernel.WorkerPool;

/** Sums of {@code x . x^T} of each head's vectors, over the query heads that share a KV head. */
final class HeadSecondMoments {
  private final int kvHeads;
  private final int dim;
  private final double[][] sums; // by layer and KV head: (dim, dim)

  HeadSecondMoments(int layers, int kvHeads, int dim) {
    this.kvHeads = kvHeads;
    this.dim = dim;
    this.sums = new double[layers * kvHeads][dim * dim];
  }

  /**
   * @param x (tokens, queryHeads, dim)
   */
  void add(int layer, float[] x, int queryHeads, WorkerPool workers) {
    int shared = queryHeads / kvHeads;
    int tokens = x.length / (queryHeads * dim);
    workers.run(
        (part, worker) -> {
          int kvHead = part / dim;
          int row = part % dim;
          double[] sum = sums[layer * kvHeads + kvHead];
          for (int token = 0; token < tokens; token++) {
            for (int head = kvHead * shared; head < (kvHead + 1) * shared; head++) {
              int at = (token * queryHeads + head) * dim;
              double factor = x[at + row];
              for (int column = 0; column < dim; column++) {
                sum[row * dim + column] += factor * x[at + column];
              }
            }
          }
        },
        kvHeads * dim);
  }

  /** Returns the second moments of a head. // (dim, dim) */
  double[] of(int layer, int kvHead) {
    return sums[layer * kvHeads + kvHead];
  }
}
