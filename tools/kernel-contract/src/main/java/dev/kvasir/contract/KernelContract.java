package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Exponential;
import dev.kvasir.kernel.Gelu;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.TileWorkspace;
import dev.kvasir.memory.CountedArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels have the bits of the scalar kernels, for all edge-case sizes. */
public abstract class KernelContract extends KernelComparison {
  protected KernelContract(Kernels tested) {
    super(tested);
  }

  static IntStream awkwardSizes() {
    return IntStream.of(
        0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 80, 127, 130);
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void productsAndSumsOfHalves(int size) {
    int columns = size + 1;
    try (CountedArena arena = new CountedArena()) {
      for (Precision precision : List.of(Precision.F16, Precision.BF16)) {
        for (int tokens : new int[] {1, 2, 3, 4, 6, 37}) {
          DenseMatrix rows = randomHalves(arena, precision, tokens + 1, columns);
          for (int heads = 1; heads <= 8; heads++) {
            assertHalvesAgree(rows, tokens, heads);
          }
        }
      }
    }
  }

  /** Prefill multiplies many rows with a block; some of these exceed one call. */
  @ParameterizedTest
  @CsvSource({"16,128", "31,127", "64,128", "72,5", "80,130", "136,1", "576,128", "8200,5"})
  void productsAndSumsOfHalvesForManyRows(int columns, int tokens) {
    try (CountedArena arena = new CountedArena()) {
      for (Precision precision : List.of(Precision.F16, Precision.BF16)) {
        DenseMatrix rows = randomHalves(arena, precision, tokens + 1, columns);
        for (int heads : new int[] {11, 12, 15, 64}) {
          assertHalvesAgree(rows, tokens, heads);
        }
      }
    }
  }

  private void assertHalvesAgree(DenseMatrix rows, int tokens, int heads) {
    int columns = rows.columns();
    float[] a = randomFloats(heads * columns);
    TileWorkspace workspace = new TileWorkspace();
    assertSame(
        new float[heads * (tokens + 1) + 1],
        (kernels, out) ->
            kernels
                .halves()
                .products(a, rows, 1, RowBlock.of(out, 1, tokens + 1, heads, tokens), workspace));
    float[] weights = randomFloats(1 + heads * (tokens + 2));
    assertSame(
        randomFloats(1 + heads * (columns + 1)),
        (kernels, out) ->
            kernels
                .halves()
                .weightedSums(
                    RowBlock.of(weights, 1, tokens + 2, heads, tokens),
                    rows,
                    1,
                    RowBlock.of(out, 1, columns + 1, heads, columns)));
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void sumsOfShorts(int columns) {
    int stride = columns + 3;
    try (CountedArena arena = new CountedArena()) {
      for (int depth : new int[] {1, 2, 37}) {
        MemorySegment codes = arena.allocate(2L * depth * stride + 2);
        for (int i = 0; i <= depth * stride; i++) {
          codes.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, (short) random.nextInt());
        }
        for (int heads = 1; heads <= 8; heads++) {
          RowBlock weights =
              RowBlock.of(randomFloats(1 + heads * (depth + 2)), 1, depth + 2, heads, depth);
          int rows = heads;
          assertSame(
              randomFloats(1 + heads * (columns + 1)),
              (kernels, out) ->
                  kernels
                      .dots()
                      .shortSums(
                          weights,
                          codes,
                          2,
                          stride,
                          RowBlock.of(out, 1, columns + 1, rows, columns)));
        }
      }
    }
  }

  private DenseMatrix randomHalves(CountedArena arena, Precision precision, int rows, int columns) {
    MemorySegment data = arena.allocate(2L * rows * columns);
    for (int i = 0; i < rows * columns; i++) {
      // Some are below the smallest normal half.
      float value = (float) (random.nextGaussian() * (random.nextInt(8) == 0 ? 1e-6 : 1));
      short bits =
          precision == Precision.F16
              ? Float.floatToFloat16(value)
              : (short) (Float.floatToRawIntBits(value) >>> 16);
      data.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i, bits);
    }
    return new DenseMatrix(precision, rows, columns, data);
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void products(int depth) {
    for (int aRows : new int[] {1, 2, 3, 4, 7}) {
      for (int bRows : new int[] {1, 3, 4, 5, 16}) {
        float[] a = randomFloats(aRows * (depth + 1) + 3);
        float[] b = randomFloats(bRows * (depth + 2) + 1);
        assertSame(
            new float[aRows * (bRows + 1) + 2],
            (kernels, out) ->
                kernels
                    .floats()
                    .products(
                        RowBlock.of(a, 3, depth + 1, aRows, depth),
                        RowBlock.of(b, 1, depth + 2, bRows, depth),
                        RowBlock.of(out, 2, bRows + 1, aRows, bRows)));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void weightedSums(int length) {
    for (int rows : new int[] {1, 3, 4, 5, 9}) {
      for (int tokens : new int[] {0, 1, 5, 128}) {
        float[] weights = randomFloats(rows * 130 + 1);
        float[] values = randomFloats(tokens * (length + 1) + 2);
        assertSame(
            randomFloats(rows * (length + 3) + 1),
            (kernels, out) ->
                kernels
                    .floats()
                    .weightedSums(
                        RowBlock.of(weights, 1, 130, rows, tokens),
                        RowBlock.of(values, 2, length + 1, tokens, length),
                        RowBlock.of(out, 1, length + 3, rows, length)));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void rowOperations(int count) {
    float[] x = randomFloats(count + 2);
    float[] y = randomFloats(count + 2);
    assertThat(tested.rows().maximum(x, 1, count)).isEqualTo(scalar.rows().maximum(x, 1, count));

    assertSame(
        x,
        (kernels, out) -> {
          kernels.rows().add(out, 1, y, 2, count);
          kernels.rows().multiply(out, 1, y, 2, out, 1, count);
          kernels.rows().scale(out, 1, count, 0.3f);
        });
    assertSame(x, (kernels, out) -> kernels.rows().gatedSilu(out, y, 1, count));
    assertSame(x, (kernels, out) -> kernels.rows().gatedGelu(out, y, 1, count));
    if (count > 0) {
      assertSame(x, (kernels, out) -> kernels.rows().rmsNorm(x, 1, y, 1e-6f, out, 2, count));
    }
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void exponentials(int count) {
    float[] expected = new float[count];
    for (int i = 0; i < count; i++) {
      expected[i] = -(float) (random.nextDouble() * 80);
    }
    float[] found = expected.clone();
    float expectedSum = scalar.rows().exponentiate(expected, 0, count, 0.5f);
    float foundSum = tested.rows().exponentiate(found, 0, count, 0.5f);
    assertThat(found).isEqualTo(expected);
    assertThat(foundSum).isEqualTo(expectedSum);
  }

  @Test
  void exponentialsAreRight() {
    for (float x = -87; x < 88; x += 0.01f) {
      double expected = Math.exp(x);
      assertThat((double) Exponential.of(x)).isCloseTo(expected, within(3e-7 * expected));
    }
  }

  @Test
  void exponentialsOfFarAwayScoresVanish() {
    float[] x = new float[16];
    Arrays.fill(x, -1e30f);
    x[3] = Float.NEGATIVE_INFINITY;
    assertThat(tested.rows().exponentiate(x, 0, x.length, 0)).isLessThan(1e-36f);
  }

  @Test
  void silusOfExtremesStayFinite() {
    float[] gate = {-1e30f, 1e30f, -100, 100, 0, -0f, 88, -88};
    float[] up = new float[gate.length];
    Arrays.fill(up, 1);
    assertFinite(gate, (kernels, out) -> kernels.rows().gatedSilu(out, up, 0, gate.length));
  }

  @Test
  void gelusAreRight() {
    for (float x = -12; x < 12; x += 0.01f) {
      double inner = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
      double expected = 0.5 * x * (1 + Math.tanh(inner));
      assertThat((double) Gelu.of(x)).isCloseTo(expected, within(1e-6 * Math.max(1, Math.abs(x))));
    }
  }

  @Test
  void gelusOfExtremesStayFinite() {
    float[] gate = {-1e30f, 1e30f, -100, 100, 0, -0f, 10, -10, 1e-30f};
    float[] up = new float[gate.length];
    Arrays.fill(up, 1);
    assertFinite(gate, (kernels, out) -> kernels.rows().gatedGelu(out, up, 0, gate.length));
  }

  /** Every finite half, at every offset from a vector's edge. */
  @Test
  void halfFloats() {
    short[] halves = new short[65536];
    for (int i = 0; i < halves.length; i++) {
      boolean finite = (i & 0x7C00) != 0x7C00;
      halves[i] = finite ? (short) i : 0;
    }
    MemorySegment source = MemorySegment.ofArray(halves);
    float[] expected = new float[halves.length];
    float[] found = new float[halves.length];
    for (int skip = 0; skip < 9; skip++) {
      int count = halves.length - skip;
      scalar.halves().expand(source, 2L * skip, expected, 0, count);
      tested.halves().expand(source, 2L * skip, found, 0, count);
      assertThat(found).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void denseRowsExpandAlike(int columns) {
    if (columns == 0) {
      return;
    }
    for (DenseMatrix.Precision precision : DenseMatrix.Precision.values()) {
      byte[] bytes = new byte[3 * columns * precision.bytes()];
      random.nextBytes(bytes);
      for (int i = precision.bytes() - 1; i < bytes.length; i += precision.bytes()) {
        bytes[i] &= 0x3F; // keeps every pattern finite
      }
      DenseMatrix matrix = new DenseMatrix(precision, 3, columns, MemorySegment.ofArray(bytes));
      assertSame(new float[2 * columns], (kernels, out) -> kernels.expand(matrix, 1, 2, out, 0));
    }
  }

  private void assertFinite(float[] before, BiConsumer<Kernels, float[]> kernel) {
    for (float value : assertSame(before, kernel)) {
      assertThat(value).isFinite();
    }
  }
}
