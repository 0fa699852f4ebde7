package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Products agree with double precision, within the error of activations that are quantized. */
@Tag("contract")
class MatrixProductsTest {
  private static final long SEED = 5;
  private static final int COLUMNS = 96;

  private final Random random = new Random(SEED);
  private final CountedArena arena = new CountedArena();

  /** A matrix and its values. */
  private record Known(Matrix matrix, double[][] values) {
    boolean isQuantized() {
      return matrix instanceof QuantizedWeights;
    }
  }

  @AfterEach
  void close() {
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void oneToThreeMatricesOfAnyKindAreMultiplied(int poolSize) {
    multiplyAll(new ScalarKernels(), poolSize, true);
  }

  @Test
  void floatActivationsAreNotQuantized() {
    multiplyAll(new FloatActivationKernels(new ScalarKernels()), 2, false);
    multiplyAll(new FloatActivationKernels(KernelChoice.ofThisProcess().kernels()), 2, false);
  }

  private void multiplyAll(Kernels kernels, int poolSize, boolean quantizes) {
    List<Known> kinds =
        List.of(
            quantized(50, 8, 32, false),
            dense(Precision.F32, 33),
            quantized(16, 4, 32, true),
            dense(Precision.BF16, 1),
            quantized(17, 8, 16, false),
            dense(Precision.F16, 48),
            quantized(1, 4, 16, true));
    try (WorkerPool workers = new WorkerPool(poolSize)) {
      MatrixProducts products = new MatrixProducts(kernels, workers);
      for (int rows = 1; rows <= 20; rows++) {
        float[] x = gaussian(rows * COLUMNS);
        for (int i = 0; i < kinds.size(); i++) {
          Known first = kinds.get(i);
          Known second = kinds.get((i + rows) % kinds.size());
          Known third = kinds.get((i + 2 * rows + 1) % kinds.size());
          multiplyAndCheck(products, quantizes, x, rows, first);
          multiplyAndCheck(products, quantizes, x, rows, first, second);
          multiplyAndCheck(products, quantizes, x, rows, first, second, third);
        }
      }
    }
  }

  private static void multiplyAndCheck(
      MatrixProducts products, boolean quantizes, float[] x, int rows, Known... matrices) {
    float[][] out = new float[matrices.length][];
    for (int m = 0; m < matrices.length; m++) {
      out[m] = new float[rows * matrices[m].matrix().rows()];
    }
    switch (matrices.length) {
      case 1 -> products.multiply(x, rows, matrices[0].matrix(), out[0]);
      case 2 ->
          products.multiply(x, rows, matrices[0].matrix(), out[0], matrices[1].matrix(), out[1]);
      default -> {
        products.begin(x, rows, matrices[0].matrix().columns());
        for (int m = 0; m < matrices.length; m++) {
          products.add(matrices[m].matrix(), out[m]);
        }
        products.run();
      }
    }
    for (int m = 0; m < matrices.length; m++) {
      check(quantizes, x, rows, matrices[m], out[m]);
    }
  }

  private static void check(boolean quantizes, float[] x, int rows, Known known, float[] out) {
    int outputs = known.matrix().rows();
    for (int row = 0; row < rows; row++) {
      double[] halfSteps = halfSteps(x, row * COLUMNS);
      for (int output = 0; output < outputs; output++) {
        double exact = 0;
        double sizes = 0;
        double quantization = 0;
        for (int i = 0; i < COLUMNS; i++) {
          double weight = known.values()[output][i];
          exact += weight * x[row * COLUMNS + i];
          sizes += Math.abs(weight * x[row * COLUMNS + i]);
          quantization += Math.abs(weight) * halfSteps[i];
        }
        double bound =
            sizes * COLUMNS * 0x1p-23
                + (quantizes && known.isQuantized() ? quantization * 1.001 : 0);
        double found = out[row * outputs + output];
        if (!(Math.abs(found - exact) <= bound)) { // a million assertions would take long
          assertThat(found)
              .as("seed %d, %s, row %d of %d, output %d", SEED, known.matrix(), row, rows, output)
              .isCloseTo(exact, within(bound));
        }
      }
    }
  }

  private static double[] halfSteps(float[] x, int at) {
    return IntStream.range(0, COLUMNS).mapToDouble(column -> halfStep(x, at, column)).toArray();
  }

  /** Half the quantization step of the activations in a column's group. */
  private static double halfStep(float[] x, int at, int column) {
    int start = column / QuantizedActivations.GROUP * QuantizedActivations.GROUP;
    double largest = 0;
    for (int i = start; i < start + QuantizedActivations.GROUP; i++) {
      largest = Math.max(largest, Math.abs(x[at + i]));
    }
    return largest / 127 / 2;
  }

  private Known quantized(int rows, int bits, int group, boolean hasMinimums) {
    QuantizedWeights matrix =
        new QuantizedWeights(
            arena, rows, COLUMNS, ReferenceWeights.coding(bits), group, hasMinimums);
    ReferenceWeights reference = ReferenceWeights.random(matrix, random);
    double[][] values = new double[rows][COLUMNS];
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < COLUMNS; column++) {
        values[row][column] = reference.value(matrix, row, column);
      }
    }
    return new Known(matrix, values);
  }

  private Known dense(Precision precision, int rows) {
    // An odd offset, as a tensor in a mapped file may have.
    MemorySegment data = arena.allocate((long) rows * COLUMNS * precision.bytes() + 1).asSlice(1);
    double[][] values = new double[rows][COLUMNS];
    for (int i = 0; i < rows * COLUMNS; i++) {
      values[i / COLUMNS][i % COLUMNS] = store(data, i, precision, (float) random.nextGaussian());
    }
    return new Known(new DenseMatrix(precision, rows, COLUMNS, data), values);
  }

  /** Stores a value and returns it as rounded. */
  private static float store(MemorySegment data, int index, Precision precision, float value) {
    ValueLayout.OfShort half = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    switch (precision) {
      case F32 -> {
        data.set(
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 4L * index, value);
        return value;
      }
      case F16 -> {
        data.set(half, 2L * index, Float.floatToFloat16(value));
        return Float.float16ToFloat(Float.floatToFloat16(value));
      }
      default -> {
        int upper = Float.floatToRawIntBits(value) >>> 16;
        data.set(half, 2L * index, (short) upper);
        return Float.intBitsToFloat(upper << 16);
      }
    }
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
