package dev.kvasir.kernel;

/**
 * Rows of floats in an array, as an operand of kernels: where the first row begins, how far apart
 * rows begin, how many there are and how long they are.
 *
 * <p>A new object for each call would be garbage wherever HotSpot does not inline the call. So
 * whoever calls kernels in every step holds blocks beside its scratch memory and points them anew
 * with {@link #set}; elsewhere {@link #of} will do. A block belongs to one thread. Kernels neither
 * keep it nor point it elsewhere.
 */
public final class RowBlock {
  private float[] values = {};
  private int at;
  private int stride;
  private int rows;
  private int width;

  /** A new block, for calls that are rare. */
  public static RowBlock of(float[] values, int at, int stride, int rows, int width) {
    return new RowBlock().set(values, at, stride, rows, width);
  }

  /** A new block of rows one after another, from the first value on. */
  public static RowBlock of(float[] values, int rows, int width) {
    return new RowBlock().set(values, rows, width);
  }

  /**
   * Points to other rows.
   *
   * @param at where the first row begins
   * @param stride from the begin of a row to that of the next
   */
  public RowBlock set(float[] values, int at, int stride, int rows, int width) {
    this.values = values;
    this.at = at;
    this.stride = stride;
    this.rows = rows;
    this.width = width;
    return this;
  }

  /** Points to rows one after another, from the first value on. */
  public RowBlock set(float[] values, int rows, int width) {
    return set(values, 0, width, rows, width);
  }

  /** Points to some columns of all rows of another block. */
  public RowBlock setColumns(RowBlock of, int first, int count) {
    return set(of.values, of.at + first, of.stride, of.rows, count);
  }

  public float[] values() {
    return values;
  }

  /** Where the first row begins. */
  public int at() {
    return at;
  }

  /** Where a row begins. */
  public int at(int row) {
    return at + row * stride;
  }

  public int stride() {
    return stride;
  }

  public int rows() {
    return rows;
  }

  /** Values of a row. */
  public int width() {
    return width;
  }

  /** Refuses rows with gaps between them, for kernels that know no stride. */
  public void requireContiguous() {
    if (stride != width) {
      throw new IllegalArgumentException(
          "rows of %d values, %d apart; expected one after another".formatted(width, stride));
    }
  }

  /** Refuses a block of another shape. */
  public void requireShape(int expectedRows, int expectedWidth) {
    if (rows != expectedRows || width != expectedWidth) {
      throw new IllegalArgumentException(
          "%d rows of %d values; expected %d of %d"
              .formatted(rows, width, expectedRows, expectedWidth));
    }
  }
}
