package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodes;
import java.util.ArrayList;
import java.util.List;

/**
 * How the tokens of a KV head are coded at one rate.
 *
 * @param keys by class
 * @param values by class
 */
record HeadCodes(List<RowCodes> keys, List<RowCodes> values) {
  /**
   * @param bits by side and class
   */
  static HeadCodes of(MeadSizes sizes, HeadTables head, int[][][] bits) {
    return new HeadCodes(
        of(sizes, head, Side.KEYS, bits[Side.KEYS.ordinal()]),
        of(sizes, head, Side.VALUES, bits[Side.VALUES.ordinal()]));
  }

  private static List<RowCodes> of(
      MeadSizes sizes, HeadTables head, Side side, int[][] bitsByClass) {
    List<RowCodes> codes = new ArrayList<>();
    for (TokenClass tokens : TokenClass.values()) {
      int[] lanes = new int[sizes.width(side)];
      float[] halves = new float[sizes.width(side)];
      for (int i = 0; i < sizes.dim(side); i++) {
        int lane = sizes.lane(side, i);
        int bits = bitsByClass[tokens.ordinal()][i];
        float weight = side == Side.KEYS ? head.keyWeights()[lane] : 1;
        lanes[lane] = bits;
        halves[lane] = Steps.step(bits) * head.deviation(sizes, side, tokens, i) / (2 * weight);
      }
      codes.add(new RowCodes(lanes, halves));
    }
    return List.copyOf(codes);
  }

  RowCodes of(Side side, TokenClass tokens) {
    return (side == Side.KEYS ? keys : values).get(tokens.ordinal());
  }

  /** The same without rows that are longer than those of a higher rate: they are as those are. */
  HeadCodes noLongerThan(HeadCodes higher) {
    return new HeadCodes(shorter(keys, higher.keys), shorter(values, higher.values));
  }

  private static List<RowCodes> shorter(List<RowCodes> codes, List<RowCodes> higher) {
    List<RowCodes> chosen = new ArrayList<>();
    for (int c = 0; c < codes.size(); c++) {
      boolean fits = codes.get(c).rowBytes() <= higher.get(c).rowBytes();
      chosen.add(fits ? codes.get(c) : higher.get(c));
    }
    return List.copyOf(chosen);
  }

  /** A width, a place and a step of each channel. */
  long bytes() {
    return keys.stream().mapToLong(rows -> 12L * rows.width()).sum()
        + values.stream().mapToLong(rows -> 12L * rows.width()).sum();
  }
}
