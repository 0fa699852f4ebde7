package dev.kvasir.kernel;

import dev.kvasir.kernel.DenseMatrix.Precision;
import java.lang.foreign.MemorySegment;

/**
 * A few rows of floats, made ready once for products with many rows of 16-bit floats. What {@link
 * #arranged} holds is up to the kernels that fill it.
 */
public final class HalfQueries {
  private final float[] rows; // (count, columns)
  private final float[] arranged;
  private final MemorySegment rowsView;
  private final MemorySegment arrangedView;
  private int count;
  private int columns;

  /**
   * @param mostRows rows at the most
   * @param mostColumns columns of a row at the most
   */
  public HalfQueries(int mostRows, int mostColumns) {
    rows = new float[mostRows * mostColumns];
    // Room to fill up to a multiple of four rows.
    arranged = new float[(mostRows + 3) * mostColumns];
    rowsView = MemorySegment.ofArray(rows);
    arrangedView = MemorySegment.ofArray(arranged);
  }

  /** Takes rows that lie one after another; {@link Kernels#prepare} does the rest. */
  void take(float[] source, int at, int rowCount, int columnCount) {
    System.arraycopy(source, at, rows, 0, rowCount * columnCount);
    count = rowCount;
    columns = columnCount;
  }

  /** The rows as they were given. */
  public float[] rows() {
    return rows;
  }

  public float[] arranged() {
    return arranged;
  }

  /** {@link #rows} for kernels that are no Java. */
  public MemorySegment rowsView() {
    return rowsView;
  }

  /** {@link #arranged} for kernels that are no Java. */
  public MemorySegment arrangedView() {
    return arrangedView;
  }

  public int count() {
    return count;
  }

  public int columns() {
    return columns;
  }

  /** Refuses rows that the queries were not made for. */
  public void requireColumns(DenseMatrix matrix) {
    if (matrix.columns() != columns || matrix.precision() == Precision.F32) {
      throw new IllegalArgumentException(
          "the matrix has %d columns of %s; expected %d of F16 or BF16"
              .formatted(matrix.columns(), matrix.precision(), columns));
    }
  }
}
