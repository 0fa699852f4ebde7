package dev.kvasir.codec.mead;

import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.RowCodeLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * How a cache shares its bits out among the channels of a model.
 *
 * @param rows codes of each class of tokens, of both sides of all heads; layers that need none have
 *     no rows
 */
public record MeadBitAllocation(int layers, int kvHeads, List<Row> rows) {
  /**
   * Codes of one class of tokens.
   *
   * @param ofKeys or of values
   * @param tokens of a page that are in the class
   * @param channels of a vector
   * @param coded channels that have any bits
   * @param bits of all channels together
   */
  public record Row(
      int layer,
      int head,
      boolean ofKeys,
      int tokens,
      int channels,
      int quantizedChannels,
      int bits) {}

  /** Before anything has shrunk; empty where pages are coded by another method. */
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

  /** Bits of a channel of some rows, in the mean over their tokens; 0 where there are no rows. */
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

  /** How many channels of some rows have any bits, in the mean; 0 where there are no rows. */
  public double meanQuantizedChannels(Predicate<Row> some) {
    return rows.stream().filter(some).mapToInt(Row::quantizedChannels).average().orElse(0);
  }

  /** Whether a layer is coded at all. */
  public boolean isQuantized(int layer) {
    return rows.stream().anyMatch(row -> row.layer == layer);
  }
}
