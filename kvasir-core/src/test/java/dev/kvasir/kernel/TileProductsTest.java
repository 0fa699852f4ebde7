package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.ScaleFormat.ScaleEncoding;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TileProductsTest {
  private static final GemmKernels GEMM = new ScalarKernels().gemm();

  /** Codes of -128 and activations of one sign make sums of a group as large as they get. */
  @ParameterizedTest
  @CsvSource({"1, 32", "16, 512", "17, 544", "40, 1536"})
  void oneRowHasTheBitsOfManyRows(int rows, int columns) {
    SplittableRandom random = new SplittableRandom(rows);
    float[] x = new float[2 * columns];
    for (int i = 0; i < x.length; i++) {
      x[i] = i < 64 ? 1 : (float) random.nextDouble(-1, 1);
    }
    try (Arena arena = Arena.ofConfined()) {
      QuantizedWeights matrix = matrix(arena, rows, columns, random);
      assertThat(products(matrix, x, 1)).isEqualTo(Arrays.copyOf(products(matrix, x, 2), rows));
    }
  }

  @Test
  void aRowQuantizedAgainHasNewProducts() {
    int rows = 17;
    int columns = 544;
    SplittableRandom random = new SplittableRandom(rows);
    try (Arena arena = Arena.ofConfined()) {
      QuantizedWeights matrix = matrix(arena, rows, columns, random);
      QuantizedActivations activations = new QuantizedActivations();
      activations.begin(1, columns);
      GEMM.quantize(activations, new float[columns], 0, 1);
      float[] x = new float[columns];
      Arrays.fill(x, 1);
      activations.quantize(0, x, 0);
      assertThat(products(matrix, activations)).isEqualTo(products(matrix, x, 1));
    }
  }

  private static QuantizedWeights matrix(
      Arena arena, int rows, int columns, SplittableRandom random) {
    ScaleFormat format = new ScaleFormat(ScaleEncoding.HALVES, false, 0);
    var matrix = new QuantizedWeights(arena, rows, columns, WeightCodes.BYTES, 32, format);
    for (int tile = 0; tile < matrix.tiles(); tile++) {
      int count = Math.min(16, rows - 16 * tile);
      byte[] codes = new byte[count * columns];
      random.nextBytes(codes);
      Arrays.fill(codes, 0, 32, Byte.MIN_VALUE);
      float[] scales = new float[count * matrix.groups()];
      for (int i = 0; i < scales.length; i++) {
        scales[i] = (i % 7 + 1) / 64f;
      }
      matrix.setTile(tile, count, codes, scales, null);
    }
    return matrix;
  }

  private static float[] products(QuantizedWeights matrix, float[] x, int rows) {
    QuantizedActivations activations = new QuantizedActivations();
    activations.begin(rows, matrix.columns());
    GEMM.quantize(activations, x, 0, rows);
    return products(matrix, activations);
  }

  private static float[] products(QuantizedWeights matrix, QuantizedActivations activations) {
    int width = matrix.rows();
    float[] out = new float[activations.rows() * width];
    RowBlock block = new RowBlock();
    block.set(out, 0, width, activations.rows(), width);
    GEMM.products(matrix, 0, matrix.tiles(), activations, 0, block, new TileWorkspace());
    return out;
  }
}
