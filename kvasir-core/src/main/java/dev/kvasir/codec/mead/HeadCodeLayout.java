package dev.kvasir.codec.mead;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.RowCodeLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Code layout of a KV head at one rate.
 *
 * @param keys a band of rows for each tier
 * @param values a band of rows for each tier
 */
record HeadCodeLayout(CodeBands keys, CodeBands values) {
  /**
   * @param bits by side and tier
   */
  static HeadCodeLayout of(
      MeadSizes sizes, HeadTables head, SaliencyMetric metric, int[][][] bits) {
    return new HeadCodeLayout(
        bands(of(sizes, head, metric, KvSide.KEYS, bits[KvSide.KEYS.ordinal()])),
        bands(of(sizes, head, metric, KvSide.VALUES, bits[KvSide.VALUES.ordinal()])));
  }

  private static CodeBands bands(List<RowCodeLayout> byTier) {
    int[] counts = new int[SaliencyTier.COUNT];
    for (SaliencyTier tokens : SaliencyTier.values()) {
      counts[tokens.ordinal()] = tokens.tokens();
    }
    return CodeBands.of(byTier, counts);
  }

  private static List<RowCodeLayout> of(
      MeadSizes sizes, HeadTables head, SaliencyMetric metric, KvSide side, int[][] bitsByTier) {
    TierStatistics tiers = head.tiers(metric);
    List<RowCodeLayout> codes = new ArrayList<>();
    for (SaliencyTier tokens : SaliencyTier.values()) {
      int[] lanes = new int[sizes.width(side)];
      float[] halves = new float[sizes.width(side)];
      for (int i = 0; i < sizes.dim(side); i++) {
        int lane = sizes.lane(side, i);
        int bits = bitsByTier[tokens.ordinal()][i];
        float weight = side == KvSide.KEYS ? head.keyWeights()[lane] : 1;
        lanes[lane] = bits;
        halves[lane] =
            UnitVarianceSteps.step(bits) * tiers.deviation(sizes, side, tokens, i) / (2 * weight);
      }
      codes.add(new RowCodeLayout(lanes, halves));
    }
    return codes;
  }

  CodeBands of(KvSide side) {
    return side == KvSide.KEYS ? keys : values;
  }

  RowCodeLayout of(KvSide side, SaliencyTier tokens) {
    return of(side).layout(tokens.ordinal());
  }

  /**
   * Returns this layout, with each row that is longer than at the higher rate replaced by that one.
   */
  HeadCodeLayout limitedTo(HeadCodeLayout higher) {
    return new HeadCodeLayout(shorter(keys, higher.keys), shorter(values, higher.values));
  }

  private static CodeBands shorter(CodeBands codes, CodeBands higher) {
    List<RowCodeLayout> chosen = new ArrayList<>();
    for (int c = 0; c < codes.bands(); c++) {
      boolean fits = codes.layout(c).rowBytes() <= higher.layout(c).rowBytes();
      chosen.add((fits ? codes : higher).layout(c));
    }
    return bands(chosen);
  }

  /** Returns the bytes of each channel's width, offset and step, and of the band plans. */
  long bytes() {
    return bytes(keys) + bytes(values);
  }

  private static long bytes(CodeBands codes) {
    return 12L * codes.bands() * codes.width()
        + (long) Integer.BYTES * (codes.descriptor().length + codes.columnDescriptor().length);
  }
}
