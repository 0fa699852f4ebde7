package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.TileWorkspace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Products with dense weights of any precision have the bits of float products. */
public abstract class DenseContract {
  private static final long SEED = 17;
  private static final int ROWS = 23;

  private final Random random = new Random(SEED);
  private final Kernels scalar;
  private final Kernels tested;

  protected DenseContract(Kernels tested) {
    this.scalar = new ScalarKernels();
    this.tested = tested;
  }

  @ParameterizedTest
  @EnumSource(Precision.class)
  void productsWithWeights(Precision precision) {
    try (Arena arena = Arena.ofConfined()) {
      for (int columns : new int[] {1, 3, 4, 15, 16, 17, 31, 32, 33, 64, 80, 127, 130, 512}) {
        DenseMatrix matrix = weights(arena, precision, columns);
        for (int count = 1; count <= 9; count++) {
          float[] x = gaussians(count * columns);
          for (int bRows : new int[] {0, 1, 3, 4, 5, 16}) {
            assertAgree(matrix, x, count, 2, bRows);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Precision.class)
  void longRowsWithThoseOfAPrompt(Precision precision) {
    try (Arena arena = Arena.ofConfined()) {
      for (int columns : new int[] {1024, 1050, 8209}) {
        DenseMatrix matrix = weights(arena, precision, columns);
        for (int count : new int[] {11, 12, 21, 100}) {
          assertAgree(matrix, gaussians(count * columns), count, 2, count == 100 ? 16 : 5);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Precision.class)
  void whatIsNoNumberStaysWithItsRow(Precision precision) {
    try (Arena arena = Arena.ofConfined()) {
      for (int columns : new int[] {16, 37, 128}) {
        DenseMatrix matrix = weights(arena, precision, columns);
        for (float odd : new float[] {Float.NaN, Float.NEGATIVE_INFINITY, 3e38f, -0f, 1e-44f}) {
          float[] x = gaussians(6 * columns);
          x[columns - 1] = odd;
          x[4 * columns] = odd;
          for (int count : new int[] {1, 4, 6}) {
            assertAgree(matrix, x, count, 0, ROWS);
          }
        }
        if (precision != Precision.F16) {
          set(matrix, 5 * columns, Float.NaN);
          set(matrix, 6 * columns + 2, Float.POSITIVE_INFINITY);
          float[] out = products(tested, matrix, gaussians(4 * columns), 4, 0, ROWS);
          assertThat(out[5]).isNaN();
          assertThat(out[4]).isFinite();
          assertAgree(matrix, gaussians(4 * columns), 4, 0, ROWS);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Precision.class)
  void workOfManyCallsIsThatOfOne(Precision precision) {
    try (Arena arena = Arena.ofConfined()) {
      int columns = 1 << 16;
      DenseMatrix matrix = weights(arena, precision, columns);
      for (int count : new int[] {1, 3, 6}) {
        assertAgree(matrix, gaussians(count * columns), count, 1, 18);
      }
    }
  }

  private void assertAgree(DenseMatrix matrix, float[] x, int count, int firstRow, int bRows) {
    assertThat(products(tested, matrix, x, count, firstRow, bRows))
        .as("seed %d, %d rows of %d columns", SEED, count, matrix.columns())
        .isEqualTo(products(scalar, matrix, x, count, firstRow, bRows));
  }

  /** Rows of the output have a gap of one between them, and follow a value that must not change. */
  private static float[] products(
      Kernels kernels, DenseMatrix matrix, float[] x, int count, int firstRow, int bRows) {
    float[] out = new float[1 + count * (bRows + 1)];
    kernels
        .halves()
        .products(
            x, matrix, firstRow, RowBlock.of(out, 0, bRows + 1, count, bRows), new TileWorkspace());
    return out;
  }

  /** Starts at an offset that is unaligned for any number. */
  private DenseMatrix weights(Arena arena, Precision precision, int columns) {
    long bytes = (long) ROWS * columns * precision.bytes();
    MemorySegment data = arena.allocate(bytes + 2, 64).asSlice(2);
    DenseMatrix matrix = new DenseMatrix(precision, ROWS, columns, data);
    for (int i = 0; i < ROWS * columns; i++) {
      // Some are below the smallest normal half.
      set(matrix, i, (float) (random.nextGaussian() * (random.nextInt(8) == 0 ? 1e-6 : 1)));
    }
    return matrix;
  }

  private static void set(DenseMatrix matrix, int place, float value) {
    MemorySegment data = matrix.data();
    int bits = Float.floatToRawIntBits(value);
    switch (matrix.precision()) {
      case F32 -> data.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * place, value);
      case F16 ->
          data.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * place, Float.floatToFloat16(value));
      case BF16 -> data.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * place, (short) (bits >>> 16));
    }
  }

  private float[] gaussians(int count) {
    return Gaussians.of(random, count);
  }
}
