package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.CodeMatrixHeader;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.RowScaledCodes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Byte layout of a KV head with two tiers of tokens of a fixed size. The first tier has more bits.
 *
 * <pre>
 * marks          128 bits, 1 for a token of the first tier, bit 0 for the page's first
 * key factors    (keyDim) f16, where keys are divided by any
 * value factors  (valueDim) f16, where values are divided by any
 * keys           a matrix of (keyDim channels, tokens) for each tier
 * values         a matrix of (tokens, valueDim channels) for each tier
 * </pre>
 *
 * Serialized:
 *
 * <pre>
 * u8  1 if keys are divided, 2 if values are, 3 if both, else 0
 *     a CodeMatrixHeader for keys of each tier, then for values of each
 * </pre>
 *
 * @param keys by tier
 * @param values by tier
 */
record RankedHeadLayout(
    List<CodeMatrix> keys, List<CodeMatrix> values, boolean dividesKeys, boolean dividesValues) {
  static final int TIERS = 2;
  static final int MARK_BYTES = Page.TOKENS / Byte.SIZE;

  private static final int KEYS_FLAG = 1;
  private static final int VALUES_FLAG = 2;

  RankedHeadLayout {
    keys = List.copyOf(keys);
    values = List.copyOf(values);
  }

  static RankedHeadLayout of(int keyDim, int valueDim, RankedSettings settings) {
    List<CodeMatrix> keys = new ArrayList<>();
    List<CodeMatrix> values = new ArrayList<>();
    for (int tier = 0; tier < TIERS; tier++) {
      int tokens = tier == 0 ? settings.salient() : Page.TOKENS - settings.salient();
      int bits = tier == 0 ? settings.highBits() : settings.lowBits();
      keys.add(
          settings.keyGranularity() == KeyScaleGranularity.CHANNEL
              ? new RowScaledCodes(keyDim, tokens, bits, tokens)
              : new ColumnScaledCodes(keyDim, tokens, bits));
      values.add(new RowScaledCodes(tokens, valueDim, bits, valueDim));
    }
    return new RankedHeadLayout(
        keys,
        values,
        settings.keyGranularity() == KeyScaleGranularity.TOKEN,
        settings.dividesValues());
  }

  int keyDim() {
    return keys.getFirst().rows();
  }

  int valueDim() {
    return values.getFirst().columns();
  }

  int tokens(int tier) {
    return keys.get(tier).columns();
  }

  long keyFactorsOffset() {
    return MARK_BYTES;
  }

  long valueFactorsOffset() {
    return keyFactorsOffset() + (dividesKeys ? 2L * keyDim() : 0);
  }

  long keysOffset(int tier) {
    long first = valueFactorsOffset() + (dividesValues ? 2L * valueDim() : 0);
    return tier == 0 ? first : first + keys.getFirst().bytes();
  }

  long valuesOffset(int tier) {
    long first = keysOffset(1) + keys.get(1).bytes();
    return tier == 0 ? first : first + values.getFirst().bytes();
  }

  long bytes() {
    return valuesOffset(1) + values.get(1).bytes();
  }

  long codeBytes() {
    long sum = 0;
    for (int tier = 0; tier < TIERS; tier++) {
      sum += keys.get(tier).codeBytes() + values.get(tier).codeBytes();
    }
    return sum;
  }

  static int headerBytes() {
    return 1 + 2 * TIERS * CodeMatrixHeader.BYTES;
  }

  void write(ByteBuffer out) {
    out.put((byte) ((dividesKeys ? KEYS_FLAG : 0) | (dividesValues ? VALUES_FLAG : 0)));
    keys.forEach(matrix -> matrix.header().write(out));
    values.forEach(matrix -> matrix.header().write(out));
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws IllegalArgumentException for an invalid layout
   */
  static RankedHeadLayout read(ByteBuffer in) {
    int flags = in.get();
    if (flags < 0 || flags > (KEYS_FLAG | VALUES_FLAG)) {
      throw new IllegalArgumentException("what is divided is %d; expected 0 to 3".formatted(flags));
    }
    List<CodeMatrix> grids = new ArrayList<>();
    for (int i = 0; i < 2 * TIERS; i++) {
      grids.add(CodeMatrixHeader.read(in).matrix());
    }
    return new RankedHeadLayout(
        grids.subList(0, TIERS),
        grids.subList(TIERS, 2 * TIERS),
        (flags & KEYS_FLAG) != 0,
        (flags & VALUES_FLAG) != 0);
  }

  /** Returns whether two layouts arrange their bits alike. */
  boolean hasSameLayout(RankedHeadLayout other) {
    return toString().equals(other.toString());
  }

  @Override
  public String toString() {
    return "keys of %s%s and values of %s%s"
        .formatted(
            headers(keys),
            dividesKeys ? " divided by factors" : "",
            headers(values),
            dividesValues ? " divided by factors" : "");
  }

  private static List<CodeMatrixHeader> headers(List<CodeMatrix> grids) {
    return grids.stream().map(CodeMatrix::header).toList();
  }
}
