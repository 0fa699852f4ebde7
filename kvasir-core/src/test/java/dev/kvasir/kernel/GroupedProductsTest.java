package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every row of every group gets the result it gets alone, and nothing else is written. */
class GroupedProductsTest {
  private static final long SEED = 7;
  private static final int COLUMNS = 96;

  private final Random random = new Random(SEED);
  private final CountedArena arena = new CountedArena();

  @AfterEach
  void close() {
    arena.close();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 8", "2, 8", "3, 30", "2, 100"})
  void aRowIsWhatItIsAlone(int poolSize, int rows) {
    Matrix[] matrices = {
      quantized(50, 8),
      dense(Precision.F32, 33),
      quantized(16, 4),
      dense(Precision.BF16, 7),
      quantized(200, 4)
    };
    float[] x = floats(rows * COLUMNS);
    try (WorkerPool workers = new WorkerPool(poolSize)) {
      GroupedProducts products = new GroupedProducts(new ScalarKernels(), workers);
      for (int round = 0; round < 10; round++) {
        products.begin(x, rows, COLUMNS);
        List<Group> groups = groups(matrices, rows);
        groups.forEach(group -> products.add(group.matrix, group.first, group.end, group.out));
        products.run();
        groups.forEach(group -> check(group, x));
      }
    }
  }

  private record Group(Matrix matrix, int first, int end, float[] out) {}

  /** Runs of rows of any length; some rows are in no run and others in several. */
  private List<Group> groups(Matrix[] matrices, int rows) {
    List<Group> groups = new ArrayList<>();
    for (int first = 0; first < rows; ) {
      int end = first + 1 + random.nextInt(rows - first);
      for (int i = random.nextInt(3); i > 0 || groups.isEmpty(); i--) {
        Matrix matrix = matrices[random.nextInt(matrices.length)];
        float[] out = new float[rows * matrix.rows()];
        Arrays.fill(out, -1);
        groups.add(new Group(matrix, first, end, out));
      }
      first = end;
    }
    return groups;
  }

  private static void check(Group group, float[] x) {
    int outputs = group.matrix.rows();
    float[] expected = new float[group.out.length];
    Arrays.fill(expected, -1);
    try (WorkerPool workers = new WorkerPool(1)) {
      MatrixProducts alone = new MatrixProducts(new ScalarKernels(), workers);
      for (int row = group.first; row < group.end; row++) {
        float[] out = new float[outputs];
        float[] one = Arrays.copyOfRange(x, row * COLUMNS, (row + 1) * COLUMNS);
        alone.multiply(one, 1, group.matrix, out);
        System.arraycopy(out, 0, expected, row * outputs, outputs);
      }
    }
    assertThat(group.out)
        .as("seed %d, %s, rows %d to %d", SEED, group.matrix, group.first, group.end)
        .isEqualTo(expected);
  }

  @Test
  void rowsThatAreNotThereAreRefused() {
    try (WorkerPool workers = new WorkerPool(1)) {
      GroupedProducts products = new GroupedProducts(new ScalarKernels(), workers);
      products.begin(floats(3 * COLUMNS), 3, COLUMNS);
      assertThatThrownBy(() -> products.add(quantized(16, 8), 2, 4, new float[64]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "rows 2 to 4 with a matrix of 96 columns; expected some of 3 rows and 96 columns");
    }
  }

  private Matrix quantized(int rows, int bits) {
    QuantizedWeights matrix =
        new QuantizedWeights(arena, rows, COLUMNS, ReferenceWeights.coding(bits), 32, true);
    ReferenceWeights.random(matrix, random);
    return matrix;
  }

  private Matrix dense(Precision precision, int rows) {
    MemorySegment data = arena.allocate((long) rows * COLUMNS * precision.bytes());
    for (int i = 0; i < rows * COLUMNS; i++) {
      float value = (float) random.nextGaussian();
      if (precision == Precision.F32) {
        data.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
      } else {
        int upper = Float.floatToRawIntBits(value) >>> 16;
        data.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) upper);
      }
    }
    return new DenseMatrix(precision, rows, COLUMNS, data);
  }

  private float[] floats(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
