package dev.kvasir.codec.mead;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.RowCodes;
import java.util.ArrayList;
import java.util.List;

/**
 * How the tokens of a KV head are coded at one rate.
 *
 * @param keys a band of rows for each class
 * @param values as the keys
 */
record HeadCodes(CodeBands keys, CodeBands values) {
  /**
   * @param bits by side and class
   */
  static HeadCodes of(MeadSizes sizes, HeadTables head, int[][][] bits) {
    return new HeadCodes(
        bands(of(sizes, head, Side.KEYS, bits[Side.KEYS.ordinal()])),
        bands(of(sizes, head, Side.VALUES, bits[Side.VALUES.ordinal()])));
  }

  private static CodeBands bands(List<RowCodes> byClass) {
    int[] counts = new int[TokenClass.COUNT];
    for (TokenClass tokens : TokenClass.values()) {
      counts[tokens.ordinal()] = tokens.tokens();
    }
    return CodeBands.of(byClass, counts);
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
    return codes;
  }

  CodeBands of(Side side) {
    return side == Side.KEYS ? keys : values;
  }

  RowCodes of(Side side, TokenClass tokens) {
    return of(side).layout(tokens.ordinal());
  }

  /** The same without rows that are longer than those of a higher rate: they are as those are. */
  HeadCodes noLongerThan(HeadCodes higher) {
    return new HeadCodes(shorter(keys, higher.keys), shorter(values, higher.values));
  }

  private static CodeBands shorter(CodeBands codes, CodeBands higher) {
    List<RowCodes> chosen = new ArrayList<>();
    for (int c = 0; c < codes.bands(); c++) {
      boolean fits = codes.layout(c).rowBytes() <= higher.layout(c).rowBytes();
      chosen.add((fits ? codes : higher).layout(c));
    }
    return bands(chosen);
  }

  /** A width, a place and a step of each channel, and the plans. */
  long bytes() {
    return bytes(keys) + bytes(values);
  }

  private static long bytes(CodeBands codes) {
    return 12L * codes.bands() * codes.width()
        + (long) Integer.BYTES * (codes.plan().length + codes.columns().length);
  }
}
