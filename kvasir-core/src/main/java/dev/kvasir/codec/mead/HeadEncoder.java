package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Quantizes the tokens of a page for one head, and stores the mean error of the value codes. */
final class HeadEncoder {
  private static final int TOKENS = Page.TOKENS;

  private final MeadSizes sizes;
  private final boolean storesMeanErrors;
  private final RowEncoder rows;
  private final float[] ones;

  HeadEncoder(MeadSizes sizes, boolean storesMeanErrors) {
    this.sizes = sizes;
    this.storesMeanErrors = storesMeanErrors;
    int most = Math.max(sizes.keyWidth(), sizes.valueWidth());
    this.rows = new RowEncoder(most);
    this.ones = new float[most];
    Arrays.fill(ones, 1);
  }

  /**
   * @param tokens prediction residuals with their tiers; overwritten by the quantization error
   * @param out a page's bytes
   */
  void encode(
      HeadTables head,
      LayerCodeLayout codes,
      int kvHead,
      HeadEncodingScratch tokens,
      MemorySegment out) {
    MeadPageLayout layout = codes.layout();
    SaliencyTierMap.write(tokens.order, out, layout.tierMapAt(kvHead));
    for (KvSide side : KvSide.values()) {
      encode(head, side, codes, kvHead, tokens, out);
    }
    if (storesMeanErrors) {
      MeanErrors.write(head, sizes, means(tokens), out, layout.meansAt(kvHead));
    }
  }

  private void encode(
      HeadTables head,
      KvSide side,
      LayerCodeLayout codes,
      int kvHead,
      HeadEncodingScratch tokens,
      MemorySegment out) {
    float[] weights = side == KvSide.KEYS ? head.keyWeights() : ones;
    for (SaliencyTier some : SaliencyTier.values()) {
      RowCodeLayout layout = codes.heads().get(kvHead).of(side, some);
      long at = codes.layout().rowsAt(kvHead, side, some);
      for (int row = 0; row < some.tokens(); row++) {
        int token = tokens.order[some.firstRow() + row];
        long offset = at + ValueColumns.rowAt(side, row, layout.rowBytes());
        int byteStride = ValueColumns.byteStride(side);
        float[] vectors = tokens.vectors(side);
        rows.encode(layout, vectors, token * sizes.width(side), weights, out, offset, byteStride);
      }
    }
  }

  private double[] means(HeadEncodingScratch tokens) {
    double[] means = new double[sizes.valueDim()];
    for (int i = 0; i < means.length; i++) {
      means[i] = tokens.means[i];
      for (int token = 0; token < TOKENS; token++) {
        means[i] += tokens.shares[token] * tokens.components[token * sizes.valueWidth() + i];
      }
    }
    return means;
  }
}
