package dev.kvasir.codec.basis;

import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Outputs of a walk in the basis that values are packed in, held back until its end: one vector for
 * each query row is restored, and no value ever is.
 */
public final class OutputAccumulator {
  private final Kernels kernels;
  private final int valueDim;
  private final float[] sums; // (rows, valueDim)
  private HeadBasis basis; // of what is held, null where nothing is
  private int kvHead;

  public OutputAccumulator(Kernels kernels, int valueDim) {
    this.kernels = kernels;
    this.valueDim = valueDim;
    this.sums = new float[PageReader.MAX_ROWS * valueDim];
  }

  /** A walk begins. */
  public void beginPass() {
    basis = null;
  }

  /**
   * Where to add weighted values of a page.
   *
   * @param of the basis of its values, the same in all of a walk
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

  /** A row's maximum has grown. */
  public void rescale(int row, float factor) {
    if (basis != null) {
      kernels.rows().scale(sums, row * valueDim, valueDim, factor);
    }
  }

  /**
   * The walk is over.
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
