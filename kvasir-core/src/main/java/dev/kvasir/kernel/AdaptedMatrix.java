package dev.kvasir.kernel;

/**
 * A matrix with a low-rank adapter, {@code base + up . down}. The product is never formed: it would
 * change weights that are quantized or mapped, and two thin products cost {@code rank * (rows +
 * columns)} of {@code rows * columns}.
 *
 * @param base weights without an adapter
 */
public record AdaptedMatrix(
    Matrix base,
    DenseMatrix down, // (rank, columns)
    DenseMatrix up) // (rows, rank)
    implements Matrix {
  public AdaptedMatrix {
    if (base instanceof AdaptedMatrix
        || down.columns() != base.columns()
        || up.rows() != base.rows()
        || up.columns() != down.rows()) {
      throw new IllegalArgumentException(
          "an adapter of %d x %d and %d x %d does not fit a matrix of %d x %d"
              .formatted(
                  up.rows(),
                  up.columns(),
                  down.rows(),
                  down.columns(),
                  base.rows(),
                  base.columns()));
    }
  }

  @Override
  public int rows() {
    return base.rows();
  }

  @Override
  public int columns() {
    return base.columns();
  }

  @Override
  public long bytes() {
    return base.bytes() + down.bytes() + up.bytes();
  }

  int rank() {
    return down.rows();
  }

  /** Adds the adapter's part to rows of the base. */
  void addTo(int firstRow, int count, float[] out, int outAt) {
    for (int row = 0; row < count; row++) {
      for (int column = 0; column < columns(); column++) {
        double sum = 0;
        for (int i = 0; i < rank(); i++) {
          sum += (double) up.value(firstRow + row, i) * down.value(i, column);
        }
        out[outAt + row * columns() + column] += (float) sum;
      }
    }
  }
}
