package dev.kvasir.codec.uniform;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.LookupTables;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Tables of queries that serve all pages of a walk, where scales multiply after the sums: one for
 * each grid of channels, and the sum of the grid's weights for each row.
 */
final class KeptTables {
  /** Tables of one grid of channels. */
  static final class Kept {
    private final LookupTables tables;
    private final float[] sums; // (rows)
    private int at = -1; // first channel, or none
    private int entries;
    private boolean exact;

    private Kept(int mostRows, int mostEntries) {
      this.tables = new LookupTables(mostRows, mostEntries);
      this.sums = new float[mostRows];
    }

    LookupTables tables() {
      return tables;
    }

    float[] sums() {
      return sums;
    }
  }

  private final Kernels kernels;
  private final int mostRows;
  private final int mostEntries;
  private final float[] weights; // (rows, entries), filled up to quads
  private final float[] ones;
  private final List<Kept> kept = new ArrayList<>();

  KeptTables(Kernels kernels, int mostRows, int mostEntries) {
    this.kernels = kernels;
    this.mostRows = mostRows;
    this.mostEntries = mostEntries;
    this.weights = new float[mostRows * mostEntries];
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
   * @param x (rows, entries), {@code xStride} apart, from {@code xAt} on
   * @param padded entries of the tables
   */
  Kept of(float[] x, int xAt, int xStride, int rows, int entries, int padded, boolean exact) {
    for (int i = 0; i < kept.size(); i++) {
      Kept known = kept.get(i);
      if (known.at == xAt && known.entries == entries && known.exact == exact) {
        return known;
      }
    }
    Kept free = free();
    for (int row = 0; row < rows; row++) {
      System.arraycopy(x, xAt + row * xStride, weights, row * padded, entries);
      Arrays.fill(weights, row * padded + entries, (row + 1) * padded, 0);
    }
    kernels.lookups().buildTables(weights, 0, padded, rows, padded, exact, free.tables);
    kernels.floats().products(x, xAt, xStride, rows, ones, 0, entries, 1, entries, free.sums, 0, 1);
    free.at = xAt;
    free.entries = entries;
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
