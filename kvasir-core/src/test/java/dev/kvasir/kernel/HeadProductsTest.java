package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The matrix of a head gives the same result as a product with the rows of that head alone. */
class HeadProductsTest {
  private static final int HEADS = 5;

  private final Kernels kernels = new ScalarKernels();
  private final WorkerPool workers = new WorkerPool(2);
  private final CountedArena arena = new CountedArena();
  private final Random random = new Random(59);

  @AfterEach
  void close() {
    workers.close();
    arena.close();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, 20, 12",
    "33, 0, 16, 7",
    "70, 0, 33, 40",
    "1, 4, 32, 20",
    "70, 8, 64, 48",
    "31, 4, 96, 16"
  })
  void everyHeadIsMultipliedByItsOwnMatrix(int rows, int codeBits, int columns, int outs) {
    List<Matrix> matrices = new ArrayList<>();
    for (int head = 0; head < HEADS; head++) {
      matrices.add(codeBits == 0 ? dense(outs, columns) : quantized(codeBits, outs, columns));
    }
    int stride = columns + 3;
    int outStride = outs + 5;
    float[] x = gaussian(rows * HEADS * stride);
    float[] found = new float[rows * HEADS * outStride];
    new HeadProducts(kernels, workers).multiply(matrices, rows, x, stride, found, outStride);
    float[] expected = new float[found.length];
    for (int head = 0; head < HEADS; head++) {
      for (int row = 0; row < rows; row++) {
        float[] out = new float[outs];
        float[] alone = new float[columns];
        System.arraycopy(x, (row * HEADS + head) * stride, alone, 0, columns);
        new MatrixProducts(kernels, workers).multiply(alone, 1, matrices.get(head), out);
        System.arraycopy(out, 0, expected, (row * HEADS + head) * outStride, outs);
      }
    }
    assertThat(found).isEqualTo(expected);
  }

  private DenseMatrix dense(int rows, int columns) {
    MemorySegment data = arena.allocate(4L * rows * columns);
    float[] x = gaussian(rows * columns);
    MemorySegment.copy(x, 0, data, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, x.length);
    return new DenseMatrix(Precision.F32, rows, columns, data);
  }

  private QuantizedWeights quantized(int bits, int rows, int columns) {
    QuantizedWeights matrix =
        new QuantizedWeights(arena, rows, columns, ReferenceWeights.coding(bits), 32, false);
    for (int tile = 0; tile < matrix.tiles(); tile++) {
      int count = Math.min(QuantizedWeights.TILE_ROWS, rows - tile * QuantizedWeights.TILE_ROWS);
      byte[] codes = new byte[count * columns];
      IntStream.range(0, codes.length)
          .forEach(i -> codes[i] = (byte) random.nextInt(1 << bits - 1));
      float[] scales = gaussian(count * matrix.groups());
      matrix.setTile(tile, count, codes, scales, new float[scales.length]);
    }
    return matrix;
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
