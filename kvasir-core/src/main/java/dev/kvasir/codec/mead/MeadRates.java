package dev.kvasir.codec.mead;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The rates of a cache.
 *
 * @param descending rates from high to low
 */
record MeadRates(List<MeadRate> descending) {
  /**
   * Creates the rates so that no code row is longer at a lower rate. Bit allocation alone does not
   * ensure that: if the last bits do not fit a row of many tokens, another row gets them.
   */
  static MeadRates of(
      MeadTables tables, SaliencyMetric metric, List<MeadRate.RateTarget> descending) {
    List<MeadRate> rates = new ArrayList<>();
    for (MeadRate.RateTarget bits : descending) {
      int[][][][][] widths = widths(tables, metric, bits.quantized());
      List<LayerCodeLayout> layers = new ArrayList<>();
      for (int layer = 0; layer < tables.sizes().layers(); layer++) {
        LayerCodeLayout higher = rates.isEmpty() ? null : rates.getLast().layers().get(layer);
        layers.add(layer(tables, metric, layer, widths[layer], higher));
      }
      rates.add(new MeadRate(rates.size(), bits.nominal(), metric, List.copyOf(layers)));
    }
    return new MeadRates(List.copyOf(rates));
  }

  private static LayerCodeLayout layer(
      MeadTables tables,
      SaliencyMetric metric,
      int layer,
      int[][][][] widths,
      LayerCodeLayout higher) {
    MeadSizes sizes = tables.sizes();
    List<HeadCodeLayout> heads = new ArrayList<>();
    for (int head = 0; head < sizes.kvHeads(); head++) {
      HeadCodeLayout codes =
          HeadCodeLayout.of(sizes, tables.head(layer, head), metric, widths[head]);
      heads.add(higher == null ? codes : codes.limitedTo(higher.heads().get(head)));
    }
    boolean storesTableRows = tables.kind() == TableKind.CENTROIDS;
    return new LayerCodeLayout(
        List.copyOf(heads), new MeadPageLayout(heads, sizes.valueDim(), storesTableRows));
  }

  /** Returns bit widths by layer, head, side, tier and channel. */
  private static int[][][][][] widths(MeadTables tables, SaliencyMetric metric, double bits) {
    MeadSizes sizes = tables.sizes();
    int[][][][][] widths =
        new int[sizes.layers()][sizes.kvHeads()][KvSide.COUNT][SaliencyTier.COUNT][];
    List<BitAllocator.Row> rows = new ArrayList<>();
    for (int layer = 0; layer < sizes.layers(); layer++) {
      for (int head = 0; head < sizes.kvHeads(); head++) {
        for (KvSide side : KvSide.values()) {
          for (SaliencyTier tokens : SaliencyTier.values()) {
            double[] energies =
                energies(sizes, tables.head(layer, head).tiers(metric), side, tokens);
            BitAllocator.Row row = new BitAllocator.Row(energies, tokens);
            widths[layer][head][side.ordinal()][tokens.ordinal()] = row.bits();
            if (!tables.isTokenDetermined(layer)) {
              rows.add(row);
            }
          }
        }
      }
    }
    double numbers =
        (double) sizes.layers() * sizes.kvHeads() * (sizes.keyDim() + sizes.valueDim());
    BitAllocator.allocate(rows, bits * numbers - tables.overheadBits());
    return widths;
  }

  private static double[] energies(
      MeadSizes sizes, TierStatistics tiers, KvSide side, SaliencyTier tokens) {
    double weight = tiers.weight(tokens, side);
    double[] energies = new double[sizes.dim(side)];
    Arrays.setAll(
        energies,
        i -> {
          float deviation = tiers.deviation(sizes, side, tokens, i);
          return weight * deviation * deviation;
        });
    return energies;
  }
}
