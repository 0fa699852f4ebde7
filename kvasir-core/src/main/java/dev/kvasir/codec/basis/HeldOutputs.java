package dev.kvasir.codec.basis;

import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Outputs of a walk in the basis that values are packed in, held back until its end: one vector for
 * each query row is restored, and no value ever is.
 */
public final class HeldOutputs {
  private final Kernels kernels;
  private final int valueDim;
  private final float[] mixed; // (rows, valueDim)
  private HeadBasis basis; // of what is held, null where nothing is
  private int kvHead;

  public HeldOutputs(Kernels kernels, int valueDim) {
    this.kernels = kernels;
    this.valueDim = valueDim;
    this.mixed = new float[PageReader.MOST_ROWS * valueDim];
  }

  /** A walk begins. */
  public void begin() {
    basis = null;
  }

  /**
   * Where to add weighted values of a page.
   *
   * @param of the basis of its values, the same in all of a walk
   * @return (rows, valueDim)
   */
  public float[] in(HeadBasis of, int head, int rows) {
    if (basis == null) {
      Arrays.fill(mixed, 0, rows * valueDim, 0);
      basis = of;
      kvHead = head;
    }
    return mixed;
  }

  /** A row's maximum has grown. */
  public void shrink(int row, float factor) {
    if (basis != null) {
      kernels.rows().scale(mixed, row * valueDim, valueDim, factor);
    }
  }

  /**
   * The walk is over.
   *
   * @param out (rows, valueDim), added to
   */
  public void end(int rows, float[] out) {
    if (basis != null) {
      basis.restore(kvHead, mixed, 0, rows);
      kernels.rows().add(out, 0, mixed, 0, rows * valueDim);
      basis = null;
    }
  }
}
