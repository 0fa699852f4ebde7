package dev.kvasir.codec.uniform;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.QuantizedOperand;
import dev.kvasir.kernel.RowBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Quantized queries that all pages of a pass reuse, where scales are applied after the sums. For
 * each matrix of channels it holds the operand and the sum of each row.
 */
final class OperandCache {
  /** The operand of one matrix of channels. */
  static final class CachedOperand {
    private final QuantizedOperand operand;
    private final float[] sums; // (rows)
    private int at = -1; // first channel; -1 if unused
    private int depth;
    private boolean exact;

    private CachedOperand(int maxRows, int maxDepth) {
      this.operand = new QuantizedOperand(maxRows, maxDepth);
      this.sums = new float[maxRows];
    }

    QuantizedOperand operand() {
      return operand;
    }

    float[] sums() {
      return sums;
    }
  }

  private final Kernels kernels;
  private final int maxRows;
  private final int maxDepth;
  private final float[] ones;
  private final RowBlock onesRow = new RowBlock();
  private final RowBlock sumRows = new RowBlock();
  private final List<CachedOperand> cached = new ArrayList<>();

  OperandCache(Kernels kernels, int maxRows, int maxDepth) {
    this.kernels = kernels;
    this.maxRows = maxRows;
    this.maxDepth = maxDepth;
    this.ones = new float[maxDepth];
    Arrays.fill(ones, 1);
  }

  /** Discards all operands, because the queries change. */
  void invalidate() {
    for (int i = 0; i < cached.size(); i++) {
      cached.get(i).at = -1;
    }
  }

  /**
   * Returns the operand of a matrix.
   *
   * @param x (rows, depth); its offset distinguishes the matrices of a pass
   */
  CachedOperand get(RowBlock x, boolean exact) {
    for (int i = 0; i < cached.size(); i++) {
      CachedOperand known = cached.get(i);
      if (known.at == x.at() && known.depth == x.width() && known.exact == exact) {
        return known;
      }
    }
    CachedOperand free = unused();
    kernels.dots().quantizeOperand(x, exact, free.operand);
    kernels
        .floats()
        .products(x, onesRow.set(ones, 1, x.width()), sumRows.set(free.sums, x.rows(), 1));
    free.at = x.at();
    free.depth = x.width();
    free.exact = exact;
    return free;
  }

  private CachedOperand unused() {
    for (int i = 0; i < cached.size(); i++) {
      if (cached.get(i).at < 0) {
        return cached.get(i);
      }
    }
    CachedOperand more = new CachedOperand(maxRows, maxDepth);
    cached.add(more);
    return more;
  }
}
