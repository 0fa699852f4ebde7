package dev.kvasir.kernel;

/**
 * A block of rows in a float array, as an operand of kernels: offset of the first row, stride,
 * number of rows and width.
 *
 * <p>A new object per call would be garbage wherever HotSpot does not inline the call. Code that
 * calls kernels in every step therefore keeps blocks with its scratch memory and repoints them with
 * {@link #set}; elsewhere {@link #of} is fine. A block belongs to one thread. Kernels neither
 * retain nor change it.
 */
public final class RowBlock {
  private float[] values = {};
  private int at;
  private int stride;
  private int rows;
  private int width;

  /** Returns a new block, for infrequent calls. */
  public static RowBlock of(float[] values, int at, int stride, int rows, int width) {
    return new RowBlock().set(values, at, stride, rows, width);
  }

  /** Returns a new block of contiguous rows from index 0 on. */
  public static RowBlock of(float[] values, int rows, int width) {
    return new RowBlock().set(values, rows, width);
  }

  /**
   * Points this block at other rows.
   *
   * @param at index of the first row
   * @param stride from the start of a row to the start of the next
   */
  public RowBlock set(float[] values, int at, int stride, int rows, int width) {
    this.values = values;
    this.at = at;
    this.stride = stride;
    this.rows = rows;
    this.width = width;
    return this;
  }

  /** Points this block at contiguous rows from index 0 on. */
  public RowBlock set(float[] values, int rows, int width) {
    return set(values, 0, width, rows, width);
  }

  /** Points this block at some columns of all rows of another block. */
  public RowBlock setColumns(RowBlock of, int first, int count) {
    return set(of.values, of.at + first, of.stride, of.rows, count);
  }

  public float[] values() {
    return values;
  }

  /** Returns the index of the first row. */
  public int at() {
    return at;
  }

  public int at(int row) {
    return at + row * stride;
  }

  public int stride() {
    return stride;
  }

  public int rows() {
    return rows;
  }

  public int width() {
    return width;
  }

  /** Throws if there are gaps between rows, for kernels without a stride. */
  public void requireContiguous() {
    if (stride != width) {
      throw new IllegalArgumentException(
          "rows of %d values, %d apart; expected one after another".formatted(width, stride));
    }
  }

  /** Throws if this block has another shape. */
  public void requireShape(int expectedRows, int expectedWidth) {
    if (rows != expectedRows || width != expectedWidth) {
      throw new IllegalArgumentException(
          "%d rows of %d values; expected %d of %d"
              .formatted(rows, width, expectedRows, expectedWidth));
    }
  }
}
