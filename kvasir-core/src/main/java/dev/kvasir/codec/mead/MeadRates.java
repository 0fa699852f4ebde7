package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

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

  /**
   * Creates a rate that gives every layer the same number of bytes, whatever its statistics.
   *
   * @param codeBytes bytes of codes on a layer's page
   */
  static MeadRate ofEqualLayers(
      MeadTables tables, SaliencyMetric metric, double nominalBits, long codeBytes) {
    MeadSizes sizes = tables.sizes();
    double budget = (double) Byte.SIZE * codeBytes / Page.TOKENS;
    List<LayerCodeLayout> layers = new ArrayList<>();
    for (int layer = 0; layer < sizes.layers(); layer++) {
      List<BitAllocator.Row> rows = new ArrayList<>();
      int[][][][] widths = rows(tables, metric, layer, rows);
      BitAllocator.allocate(rows, budget);
      List<HeadCodeLayout> heads = heads(tables, metric, layer, widths);
      layers.add(
          new LayerCodeLayout(
              heads, new MeadPageLayout(heads, sizes.valueDim(), false, codeBytes)));
    }
    return new MeadRate(0, nominalBits, metric, List.copyOf(layers));
  }

  private static List<HeadCodeLayout> heads(
      MeadTables tables, SaliencyMetric metric, int layer, int[][][][] widths) {
    return IntStream.range(0, tables.sizes().kvHeads())
        .mapToObj(
            head ->
                HeadCodeLayout.of(tables.sizes(), tables.head(layer, head), metric, widths[head]))
        .toList();
  }

  private static LayerCodeLayout layer(
      MeadTables tables,
      SaliencyMetric metric,
      int layer,
      int[][][][] widths,
      LayerCodeLayout higher) {
    List<HeadCodeLayout> heads = heads(tables, metric, layer, widths);
    if (higher != null) {
      heads = limitedTo(heads, higher.heads());
    }
    boolean storesTableRows = tables.kind() == TableKind.CENTROIDS;
    return new LayerCodeLayout(
        heads, new MeadPageLayout(heads, tables.sizes().valueDim(), storesTableRows));
  }

  private static List<HeadCodeLayout> limitedTo(
      List<HeadCodeLayout> heads, List<HeadCodeLayout> higher) {
    return IntStream.range(0, heads.size())
        .mapToObj(head -> heads.get(head).limitedTo(higher.get(head)))
        .toList();
  }

  /** Returns bit widths by layer, head, side, tier and channel. */
  private static int[][][][][] widths(MeadTables tables, SaliencyMetric metric, double bits) {
    MeadSizes sizes = tables.sizes();
    int[][][][][] widths = new int[sizes.layers()][][][][];
    List<BitAllocator.Row> rows = new ArrayList<>();
    for (int layer = 0; layer < sizes.layers(); layer++) {
      List<BitAllocator.Row> ofLayer = new ArrayList<>();
      widths[layer] = rows(tables, metric, layer, ofLayer);
      if (!tables.isTokenDetermined(layer)) {
        rows.addAll(ofLayer);
      }
    }
    double numbers =
        (double) sizes.layers() * sizes.kvHeads() * (sizes.keyDim() + sizes.valueDim());
    BitAllocator.allocate(rows, bits * numbers - tables.overheadBits());
    return widths;
  }

  /**
   * Adds the rows of a layer.
   *
   * @return the bit widths of the rows by head, side, tier and channel, which allocation sets
   */
  private static int[][][][] rows(
      MeadTables tables, SaliencyMetric metric, int layer, List<BitAllocator.Row> rows) {
    MeadSizes sizes = tables.sizes();
    int[][][][] widths = new int[sizes.kvHeads()][KvSide.COUNT][SaliencyTier.COUNT][];
    for (int head = 0; head < sizes.kvHeads(); head++) {
      for (KvSide side : KvSide.values()) {
        for (SaliencyTier tokens : SaliencyTier.values()) {
          double[] energies = energies(sizes, tables.head(layer, head).tiers(metric), side, tokens);
          BitAllocator.Row row = new BitAllocator.Row(energies, tokens);
          widths[head][side.ordinal()][tokens.ordinal()] = row.bits();
          rows.add(row);
        }
      }
    }
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
