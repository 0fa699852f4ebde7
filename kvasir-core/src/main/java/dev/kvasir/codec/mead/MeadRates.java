package dev.kvasir.codec.mead;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The rates that a cache has.
 *
 * @param falling from high to low
 */
record MeadRates(List<MeadRate> falling) {
  /**
   * No row of codes is longer at a lower rate. Sharing out alone does not promise that: where the
   * last bits are too few for a row of many tokens, another row has them.
   */
  static MeadRates of(MeadTables tables, List<MeadRate.Bits> falling) {
    List<MeadRate> rates = new ArrayList<>();
    for (MeadRate.Bits bits : falling) {
      int[][][][][] widths = widths(tables, bits.packed());
      List<LayerCodes> layers = new ArrayList<>();
      for (int layer = 0; layer < tables.sizes().layers(); layer++) {
        LayerCodes higher = rates.isEmpty() ? null : rates.getLast().layers().get(layer);
        layers.add(layer(tables, layer, widths[layer], higher));
      }
      rates.add(new MeadRate(rates.size(), bits.named(), List.copyOf(layers)));
    }
    return new MeadRates(List.copyOf(rates));
  }

  private static LayerCodes layer(
      MeadTables tables, int layer, int[][][][] widths, LayerCodes higher) {
    MeadSizes sizes = tables.sizes();
    List<HeadCodes> heads = new ArrayList<>();
    for (int head = 0; head < sizes.kvHeads(); head++) {
      HeadCodes codes = HeadCodes.of(sizes, tables.head(layer, head), widths[head]);
      heads.add(higher == null ? codes : codes.noLongerThan(higher.heads().get(head)));
    }
    boolean storesRows = tables.kind() == TableKind.CENTROIDS;
    return new LayerCodes(List.copyOf(heads), new MeadShape(heads, sizes.valueDim(), storesRows));
  }

  /** By layer, head, side, class and channel. */
  private static int[][][][][] widths(MeadTables tables, double bits) {
    MeadSizes sizes = tables.sizes();
    int[][][][][] widths = new int[sizes.layers()][sizes.kvHeads()][Side.COUNT][TokenClass.COUNT][];
    List<BitAllocation.Row> rows = new ArrayList<>();
    for (int layer = 0; layer < sizes.layers(); layer++) {
      for (int head = 0; head < sizes.kvHeads(); head++) {
        for (Side side : Side.values()) {
          for (TokenClass tokens : TokenClass.values()) {
            double[] energies = energies(sizes, tables.head(layer, head), side, tokens);
            BitAllocation.Row row = new BitAllocation.Row(energies, tokens);
            widths[layer][head][side.ordinal()][tokens.ordinal()] = row.bits();
            if (!tables.isFree(layer)) {
              rows.add(row);
            }
          }
        }
      }
    }
    double numbers =
        (double) sizes.layers() * sizes.kvHeads() * (sizes.keyDim() + sizes.valueDim());
    BitAllocation.share(rows, bits * numbers - tables.bitsBesideCodes());
    return widths;
  }

  private static double[] energies(MeadSizes sizes, HeadTables head, Side side, TokenClass tokens) {
    double weight = head.classWeights()[tokens.ordinal() * Side.COUNT + side.ordinal()];
    double[] energies = new double[sizes.dim(side)];
    Arrays.setAll(
        energies,
        i -> {
          float deviation = head.deviation(sizes, side, tokens, i);
          return weight * deviation * deviation;
        });
    return energies;
  }
}
