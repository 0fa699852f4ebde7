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
 * Without salient tokens there is one tier.
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
 * u8  1 if keys are divided, 2 if values are, 3 if both, else 0; 4 more for a single tier
 *     a CodeMatrixHeader for keys of each tier, then for values of each
 * </pre>
 *
 * @param keys by tier
 * @param values by tier
 */
record RankedHeadLayout(
    List<CodeMatrix> keys, List<CodeMatrix> values, boolean dividesKeys, boolean dividesValues) {
  private static final int TIERS = 2;
  static final int MARK_BYTES = Page.TOKENS / Byte.SIZE;

  private static final int KEYS_FLAG = 1;
  private static final int VALUES_FLAG = 2;
  private static final int SINGLE_FLAG = 4;

  RankedHeadLayout {
    keys = List.copyOf(keys);
    values = List.copyOf(values);
  }

  static RankedHeadLayout of(int keyDim, int valueDim, RankedSettings settings) {
    List<CodeMatrix> keys = new ArrayList<>();
    List<CodeMatrix> values = new ArrayList<>();
    for (int tier = settings.salient() == 0 ? 1 : 0; tier < TIERS; tier++) {
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

  int tiers() {
    return keys.size();
  }

  int tokens(int tier) {
    return keys.get(tier).columns();
  }

  /** Returns the tokens of the tier with more bits; 0 if there is none. */
  int salient() {
    return tiers() == TIERS ? tokens(0) : 0;
  }

  long keyFactorsOffset() {
    return MARK_BYTES;
  }

  long valueFactorsOffset() {
    return keyFactorsOffset() + (dividesKeys ? 2L * keyDim() : 0);
  }

  long keysOffset(int tier) {
    long first = valueFactorsOffset() + (dividesValues ? 2L * valueDim() : 0);
    return first + bytesBefore(keys, tier);
  }

  long valuesOffset(int tier) {
    return keysOffset(tiers()) + bytesBefore(values, tier);
  }

  private static long bytesBefore(List<CodeMatrix> matrices, int tier) {
    long sum = 0;
    for (int i = 0; i < tier; i++) {
      sum += matrices.get(i).bytes();
    }
    return sum;
  }

  long bytes() {
    return valuesOffset(tiers());
  }

  long codeBytes() {
    long sum = 0;
    for (int tier = 0; tier < tiers(); tier++) {
      sum += keys.get(tier).codeBytes() + values.get(tier).codeBytes();
    }
    return sum;
  }

  int headerBytes() {
    return 1 + 2 * tiers() * CodeMatrixHeader.BYTES;
  }

  void write(ByteBuffer out) {
    int divided = (dividesKeys ? KEYS_FLAG : 0) | (dividesValues ? VALUES_FLAG : 0);
    out.put((byte) (divided | (tiers() == 1 ? SINGLE_FLAG : 0)));
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
    if (flags < 0 || flags > (KEYS_FLAG | VALUES_FLAG | SINGLE_FLAG)) {
      throw new IllegalArgumentException("what is divided is %d; expected 0 to 7".formatted(flags));
    }
    int tiers = (flags & SINGLE_FLAG) == 0 ? TIERS : 1;
    List<CodeMatrix> grids = new ArrayList<>();
    for (int i = 0; i < 2 * tiers; i++) {
      grids.add(CodeMatrixHeader.read(in).matrix());
    }
    return new RankedHeadLayout(
        grids.subList(0, tiers),
        grids.subList(tiers, 2 * tiers),
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
