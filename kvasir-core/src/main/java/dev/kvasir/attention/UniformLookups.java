package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.Lookups;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.Page;
import dev.kvasir.page.PlaneLayout;
import dev.kvasir.page.UniformPage;
import dev.kvasir.page.UniformShape;
import java.util.Arrays;

/**
 * Attention on the packed bits of a page, for a few query rows that share its KV head. A scale goes
 * into the weights that tables are made of, a zero point into a constant that all tokens of a group
 * (or all channels) share:
 *
 * <pre>
 * score_t = sum over c of (q_c scale_c) code_ct + sum over c of q_c zero_c
 * out_c   = sum over t of (p_t scale_t) code_tc + sum over t of p_t zero_t
 * </pre>
 */
final class UniformLookups implements BlockReader {
  private static final int MOST_ROWS = PageWalk.FEW_ROWS;

  private static final int TOKENS = Page.TOKENS;

  private final Kernels kernels;
  private final int headDim;
  private final LookupTables tables;
  private final float[] weights; // (rows, entries)
  private final float[] scales; // (entries)
  private final float[] zeros; // (entries)
  private final float[] constants; // (rows)
  private final float[] sums; // (rows, lanes of values), where lanes go beyond the head

  /** Whether heads of that size can be looked up. */
  static boolean supports(int headDim) {
    return headDim % 4 == 0 && headDim <= LookupTables.MOST_ENTRIES;
  }

  UniformLookups(Kernels kernels, int headDim) {
    int most = Math.max(TOKENS, headDim);
    int lanes = Math.ceilDiv(headDim, PlaneLayout.VECTOR) * PlaneLayout.VECTOR;
    this.kernels = kernels;
    this.headDim = headDim;
    this.tables = new LookupTables(MOST_ROWS, most);
    this.weights = new float[MOST_ROWS * most];
    this.scales = new float[most];
    this.zeros = new float[most];
    this.constants = new float[MOST_ROWS];
    this.sums = new float[MOST_ROWS * lanes];
  }

  @Override
  public void score(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] queries,
      int rows,
      float[] scores) {
    UniformPage page = (UniformPage) cache.page(layer, block);
    UniformShape shape = page.shape();
    boolean exact = cache.lookups() == Lookups.EXACT;
    Arrays.fill(scores, 0, rows * TOKENS, 0);
    for (int first = 0; first < TOKENS; first += shape.keyGroup()) {
      long at = shape.keyScalesOffset(kvHead) + 2L * (first / shape.keyGroup()) * headDim;
      kernels.expandHalf(page.bytes(), at, scales, 0, headDim);
      kernels.expandHalf(page.bytes(), at + shape.keyScaleBytes(), zeros, 0, headDim);
      weigh(queries, headDim, headDim, rows, exact);
      kernels.lookup(
          shape.keyLayout(),
          page.bytes(),
          shape.keyCodesOffset(kvHead),
          first / PlaneLayout.TILE,
          (first + shape.keyGroup()) / PlaneLayout.TILE,
          tables,
          scores,
          first,
          TOKENS);
    }
  }

  @Override
  public void mix(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] probabilities,
      int rows,
      float[] out) {
    UniformPage page = (UniformPage) cache.page(layer, block);
    UniformShape shape = page.shape();
    PlaneLayout layout = shape.valueLayout();
    boolean exact = cache.lookups() == Lookups.EXACT;
    for (int first = 0; first < headDim; first += shape.valueGroup()) {
      int end = Math.min(first + shape.valueGroup(), headDim);
      long at = shape.valueScalesOffset(kvHead) + 2L * (first / shape.valueGroup()) * TOKENS;
      kernels.expandHalf(page.bytes(), at, scales, 0, TOKENS);
      kernels.expandHalf(page.bytes(), at + shape.valueScaleBytes(), zeros, 0, TOKENS);
      weigh(probabilities, TOKENS, TOKENS, rows, exact);
      if (layout.lanes() == headDim) {
        lookUpValues(page, kvHead, first, end, out, first, headDim);
      } else {
        Arrays.fill(sums, 0, rows * layout.lanes(), 0);
        lookUpValues(page, kvHead, first, end, sums, 0, layout.lanes());
        for (int row = 0; row < rows; row++) {
          kernels.add(out, row * headDim + first, sums, row * layout.lanes(), end - first);
        }
      }
    }
  }

  private void lookUpValues(
      UniformPage page, int kvHead, int first, int end, float[] out, int outAt, int outStride) {
    kernels.lookup(
        page.shape().valueLayout(),
        page.bytes(),
        page.shape().valueCodesOffset(kvHead),
        first / PlaneLayout.TILE,
        Math.ceilDiv(end, PlaneLayout.TILE),
        tables,
        out,
        outAt,
        outStride);
  }

  /** Tables of {@code x * scale} and constants of {@code x . zero}. */
  private void weigh(float[] x, int stride, int entries, int rows, boolean exact) {
    for (int row = 0; row < rows; row++) {
      kernels.multiply(x, row * stride, scales, 0, weights, row * entries, entries);
    }
    kernels.products(x, 0, stride, rows, zeros, 0, entries, 1, entries, constants, 0, 1);
    kernels.buildTables(weights, 0, entries, rows, entries, exact, tables);
    for (int row = 0; row < rows; row++) {
      tables.offset(row, constants[row]);
    }
  }
}
