package dev.kvasir.page;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of one KV head's keys and values on a page. Keys may be split into matrices of
 * channels of different widths. An order of channels, stored before them, then assigns channels to
 * matrices.
 *
 * <pre>
 * order   (keyDim) u8, or u16 for more than 256 channels, if keys have their own order of channels
 * keys    matrices of (channels, 128 tokens), one after another
 * values  a matrix of (128 tokens, valueDim channels), KeyChannels if they are part of keys
 * </pre>
 *
 * A slice of a page has fewer tokens.
 *
 * <p>A stored page describes it as:
 *
 * <pre>
 * u8  1 if an order of channels is stored, else 0
 * u8  number of key matrices
 *     a CodeMatrixHeader for each of them, then one for the values
 * </pre>
 *
 * @param ordered whether an order of channels is stored
 */
public record HeadShape(List<CodeMatrix> keys, boolean ordered, CodeMatrix values) {
  /** The maximum number of channels of a key or a value, a limit of sums over codes. */
  public static final int MAX_CHANNELS = 1024;

  /** The maximum number of channels that a byte can index. */
  private static final int BYTE_CHANNELS = 256;

  public HeadShape {
    keys = List.copyOf(keys);
    int channels = keys.stream().mapToInt(CodeMatrix::rows).sum();
    requireChannels("keyDim", channels);
    requireChannels("valueDim", values.columns());
    if (values instanceof KeyChannels && values.columns() > channels) {
      throw new IllegalArgumentException(
          "values have %d channels of keys that have %d".formatted(values.columns(), channels));
    }
    if (keys.stream().anyMatch(KeyChannels.class::isInstance)) {
      throw new IllegalArgumentException("keys are no part of themselves");
    }
  }

  private static void requireChannels(String what, int channels) {
    if (channels < 1 || channels > MAX_CHANNELS) {
      throw new IllegalArgumentException(
          "%s is %d; expected 1 to %d".formatted(what, channels, MAX_CHANNELS));
    }
  }

  public int keyDim() {
    int channels = 0;
    for (int i = 0; i < keys.size(); i++) {
      channels += keys.get(i).rows();
    }
    return channels;
  }

  /** Returns the tokens of the page, or of a slice of it. */
  public int tokens() {
    return keys.getFirst().columns();
  }

  public int valueDim() {
    return values.columns();
  }

  /** Returns whether values are the first channels of their keys. */
  public boolean hasValuesInKeys() {
    return values instanceof KeyChannels;
  }

  /** Returns this shape with values that are the first channels of the keys. */
  public HeadShape withValuesInKeys() {
    return new HeadShape(keys, ordered, new KeyChannels(PageSize.TOKENS, valueDim()));
  }

  public int orderBytes() {
    return !ordered ? 0 : hasWideOrder() ? Short.BYTES * keyDim() : keyDim();
  }

  /** Returns whether the order of channels takes two bytes per channel. */
  public boolean hasWideOrder() {
    return ordered && keyDim() > BYTE_CHANNELS;
  }

  public int keyBytes() {
    int bytes = 0;
    for (int i = 0; i < keys.size(); i++) {
      bytes += keys.get(i).bytes();
    }
    return bytes;
  }

  public int codeBytes() {
    return keys.stream().mapToInt(CodeMatrix::codeBytes).sum() + values.codeBytes();
  }

  public int bytes() {
    return orderBytes() + keyBytes() + values.bytes();
  }

  /** Returns a shape with per-channel keys and per-token values, each of one width. */
  public static HeadShape uniform(
      int headDim, int keyBits, int keyGroup, int valueBits, int valueGroup) {
    return uniform(headDim, headDim, keyBits, keyGroup, valueBits, valueGroup);
  }

  /** Returns a shape with per-channel keys and per-token values of different dimensions. */
  public static HeadShape uniform(
      int keyDim, int valueDim, int keyBits, int keyGroup, int valueBits, int valueGroup) {
    if (PageSize.TOKENS % keyGroup != 0) {
      throw new IllegalArgumentException(
          "keyGroup is %d; expected a divisor of %d".formatted(keyGroup, PageSize.TOKENS));
    }
    return new HeadShape(
        List.of(new RowScaledCodes(keyDim, PageSize.TOKENS, keyBits, keyGroup)),
        false,
        new RowScaledCodes(PageSize.TOKENS, valueDim, valueBits, valueGroup));
  }

  /** Returns the bytes of the header in a stored page. */
  public int headerBytes() {
    return 2 + CodeMatrixHeader.BYTES * (keys.size() + 1);
  }

  public void write(ByteBuffer out) {
    out.put((byte) (ordered ? 1 : 0)).put((byte) keys.size());
    keys.forEach(matrix -> matrix.header().write(out));
    values.header().write(out);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws IllegalArgumentException if there is no such shape
   */
  public static HeadShape read(ByteBuffer in) {
    int ordered = in.get();
    int count = Byte.toUnsignedInt(in.get());
    List<CodeMatrix> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(CodeMatrixHeader.read(in).matrix());
    }
    if (ordered < 0 || ordered > 1) {
      throw new IllegalArgumentException("ordered is %d; expected 0 or 1".formatted(ordered));
    }
    return new HeadShape(keys, ordered == 1, CodeMatrixHeader.read(in).matrix());
  }

  /** Returns whether two shapes have the same bit layout. */
  public boolean hasSameLayout(HeadShape other) {
    boolean same =
        ordered == other.ordered
            && keys.size() == other.keys.size()
            && values.header().equals(other.values.header());
    for (int i = 0; same && i < keys.size(); i++) {
      same = keys.get(i).header().equals(other.keys.get(i).header());
    }
    return same;
  }

  private static List<CodeMatrixHeader> headers(List<CodeMatrix> matrices) {
    return matrices.stream().map(CodeMatrix::header).toList();
  }

  @Override
  public String toString() {
    return "keys of %s%s and values of %s"
        .formatted(headers(keys), ordered ? " in an order of their own" : "", values.header());
  }
}
