package dev.kvasir.codec.mead;

import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.RowCodeLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The bits that a Mead cache allocates to the channels of a model.
 *
 * @param rows rows of each tier, of keys and values of all heads; token-determined layers have none
 */
public record MeadBitAllocation(int layers, int kvHeads, List<Row> rows) {
  /**
   * Codes of one saliency tier.
   *
   * @param ofKeys true for keys, false for values
   * @param tokens tokens of a page in the tier
   * @param channels channels of a vector
   * @param quantizedChannels channels that have any bits
   * @param bits bits of all channels together
   */
  public record Row(
      int layer,
      int head,
      boolean ofKeys,
      int tokens,
      int channels,
      int quantizedChannels,
      int bits) {}

  /** Returns the allocation before any requantization; empty for a codec of another method. */
  public static Optional<MeadBitAllocation> of(PageCodec codec) {
    return switch (codec) {
      case MeadCodec mead -> Optional.of(of(mead.tables(), mead.rates().getFirst()));
      case RequantizingMeadCodec shrinking -> of(shrinking.mead());
      default -> Optional.empty();
    };
  }

  private static MeadBitAllocation of(MeadTables tables, MeadRate rate) {
    List<Row> rows = new ArrayList<>();
    for (int layer = 0; layer < tables.sizes().layers(); layer++) {
      if (!tables.isTokenDetermined(layer)) {
        addLayer(tables.sizes(), rate, layer, rows);
      }
    }
    return new MeadBitAllocation(
        tables.sizes().layers(), tables.sizes().kvHeads(), List.copyOf(rows));
  }

  private static void addLayer(MeadSizes sizes, MeadRate rate, int layer, List<Row> rows) {
    List<HeadCodeLayout> heads = rate.layers().get(layer).heads();
    for (int head = 0; head < heads.size(); head++) {
      for (KvSide side : KvSide.values()) {
        for (SaliencyTier tokens : SaliencyTier.values()) {
          RowCodeLayout layout = heads.get(head).of(side, tokens);
          rows.add(
              new Row(
                  layer,
                  head,
                  side == KvSide.KEYS,
                  tokens.tokens(),
                  sizes.dim(side),
                  (int) Arrays.stream(layout.bits()).filter(bits -> bits > 0).count(),
                  Arrays.stream(layout.bits()).sum()));
        }
      }
    }
  }

  /** Returns the mean bits per channel of the selected rows, over their tokens; 0 for no rows. */
  public double meanBits(Predicate<Row> some) {
    double bits = 0;
    double numbers = 0;
    for (Row row : rows) {
      if (some.test(row)) {
        bits += (double) row.bits * row.tokens;
        numbers += (double) row.channels * row.tokens;
      }
    }
    return numbers == 0 ? 0 : bits / numbers;
  }

  /** Returns the mean number of channels with any bits in the selected rows; 0 for no rows. */
  public double meanQuantizedChannels(Predicate<Row> some) {
    return rows.stream().filter(some).mapToInt(Row::quantizedChannels).average().orElse(0);
  }

  public boolean isQuantized(int layer) {
    return rows.stream().anyMatch(row -> row.layer == layer);
  }
}
