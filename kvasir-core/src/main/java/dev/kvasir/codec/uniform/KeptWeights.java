package dev.kvasir.codec.uniform;

import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rounded queries that serve all pages of a walk, where scales multiply after the sums: for each
 * grid of channels its weights, and the sum of them for each row.
 */
final class KeptWeights {
  /** Weights of one grid of channels. */
  static final class Kept {
    private final CodeWeights weights;
    private final float[] sums; // (rows)
    private int at = -1; // first channel, or none
    private int entries;
    private boolean exact;

    private Kept(int mostRows, int mostEntries) {
      this.weights = new CodeWeights(mostRows, mostEntries);
      this.sums = new float[mostRows];
    }

    CodeWeights weights() {
      return weights;
    }

    float[] sums() {
      return sums;
    }
  }

  private final Kernels kernels;
  private final int mostRows;
  private final int mostEntries;
  private final float[] ones;
  private final RowBlock onesRow = new RowBlock();
  private final RowBlock sumRows = new RowBlock();
  private final List<Kept> kept = new ArrayList<>();

  KeptWeights(Kernels kernels, int mostRows, int mostEntries) {
    this.kernels = kernels;
    this.mostRows = mostRows;
    this.mostEntries = mostEntries;
    this.ones = new float[mostEntries];
    Arrays.fill(ones, 1);
  }

  /** The weights are other ones from now on. */
  void forget() {
    for (int i = 0; i < kept.size(); i++) {
      kept.get(i).at = -1;
    }
  }

  /**
   * @param x (rows, entries); where they begin tells the grids of a walk apart
   */
  Kept of(RowBlock x, boolean exact) {
    for (int i = 0; i < kept.size(); i++) {
      Kept known = kept.get(i);
      if (known.at == x.at() && known.entries == x.width() && known.exact == exact) {
        return known;
      }
    }
    Kept free = free();
    kernels.dots().weigh(x, exact, free.weights);
    kernels
        .floats()
        .products(x, onesRow.set(ones, 1, x.width()), sumRows.set(free.sums, x.rows(), 1));
    free.at = x.at();
    free.entries = x.width();
    free.exact = exact;
    return free;
  }

  private Kept free() {
    for (int i = 0; i < kept.size(); i++) {
      if (kept.get(i).at < 0) {
        return kept.get(i);
      }
    }
    Kept more = new Kept(mostRows, mostEntries);
    kept.add(more);
    return more;
  }
}
