package dev.kvasir.codec.basis;

import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Accumulates the outputs of a pass in the basis of the values. Only one vector per query row is
 * transformed back, at the end of the pass; values never are.
 */
public final class OutputAccumulator {
  private final Kernels kernels;
  private final int valueDim;
  private final float[] sums; // (rows, valueDim)
  private HeadBasis basis; // of the accumulated values; null if there are none
  private int kvHead;

  public OutputAccumulator(Kernels kernels, int valueDim) {
    this.kernels = kernels;
    this.valueDim = valueDim;
    this.sums = new float[PageReader.MAX_ROWS * valueDim];
  }

  public void beginPass() {
    basis = null;
  }

  /**
   * Returns the array to which a page's weighted values are added.
   *
   * @param of the basis of the page's values, constant during a pass
   * @return (rows, valueDim)
   */
  public float[] accumulator(HeadBasis of, int head, int rows) {
    if (basis == null) {
      Arrays.fill(sums, 0, rows * valueDim, 0);
      basis = of;
      kvHead = head;
    }
    return sums;
  }

  /** Scales a row after its running maximum has grown. */
  public void rescale(int row, float factor) {
    if (basis != null) {
      kernels.rows().scale(sums, row * valueDim, valueDim, factor);
    }
  }

  /**
   * Ends the pass.
   *
   * @param out (rows, valueDim), added to
   */
  public void endPass(int rows, float[] out) {
    if (basis != null) {
      basis.invert(kvHead, sums, 0, rows);
      kernels.rows().add(out, 0, sums, 0, rows * valueDim);
      basis = null;
    }
  }
}
