package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Exponential;
import dev.kvasir.kernel.Gelu;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.OffsetAngles;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RopeAngles;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.RotaryPatterns;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.TileWorkspace;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Kernels have the bits of the scalar kernels, for all edge-case sizes. */
public abstract class KernelContract {
  private static final long SEED = 7;

  private final Random random = new Random(SEED);
  private final Kernels scalar;
  private final Kernels tested;

  protected KernelContract(Kernels tested) {
    this.scalar = new ScalarKernels();
    this.tested = tested;
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
    float[] expected = new float[heads * (tokens + 1) + 1];
    float[] found = expected.clone();
    TileWorkspace workspace = new TileWorkspace();
    scalar
        .halves()
        .products(a, rows, 1, RowBlock.of(expected, 1, tokens + 1, heads, tokens), workspace);
    tested
        .halves()
        .products(a, rows, 1, RowBlock.of(found, 1, tokens + 1, heads, tokens), workspace);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);

    float[] weights = randomFloats(1 + heads * (tokens + 2));
    float[] expectedSums = randomFloats(1 + heads * (columns + 1));
    float[] foundSums = expectedSums.clone();
    scalar
        .halves()
        .weightedSums(
            RowBlock.of(weights, 1, tokens + 2, heads, tokens),
            rows,
            1,
            RowBlock.of(expectedSums, 1, columns + 1, heads, columns));
    tested
        .halves()
        .weightedSums(
            RowBlock.of(weights, 1, tokens + 2, heads, tokens),
            rows,
            1,
            RowBlock.of(foundSums, 1, columns + 1, heads, columns));
    assertThat(foundSums).as("seed %d", SEED).isEqualTo(expectedSums);
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
          float[] weights = randomFloats(1 + heads * (depth + 2));
          float[] expected = randomFloats(1 + heads * (columns + 1));
          float[] found = expected.clone();
          int w = depth + 2;
          int o = columns + 1;
          scalar
              .dots()
              .shortSums(
                  RowBlock.of(weights, 1, w, heads, depth),
                  codes,
                  2,
                  stride,
                  RowBlock.of(expected, 1, o, heads, columns));
          tested
              .dots()
              .shortSums(
                  RowBlock.of(weights, 1, w, heads, depth),
                  codes,
                  2,
                  stride,
                  RowBlock.of(found, 1, o, heads, columns));
          assertThat(found).as("seed %d", SEED).isEqualTo(expected);
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
        float[] expected = new float[aRows * (bRows + 1) + 2];
        float[] found = expected.clone();
        scalar
            .floats()
            .products(
                RowBlock.of(a, 3, depth + 1, aRows, depth),
                RowBlock.of(b, 1, depth + 2, bRows, depth),
                RowBlock.of(expected, 2, bRows + 1, aRows, bRows));
        tested
            .floats()
            .products(
                RowBlock.of(a, 3, depth + 1, aRows, depth),
                RowBlock.of(b, 1, depth + 2, bRows, depth),
                RowBlock.of(found, 2, bRows + 1, aRows, bRows));
        assertThat(found).as("seed %d", SEED).isEqualTo(expected);
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
        float[] expected = randomFloats(rows * (length + 3) + 1);
        float[] found = expected.clone();
        scalar
            .floats()
            .weightedSums(
                RowBlock.of(weights, 1, 130, rows, tokens),
                RowBlock.of(values, 2, length + 1, tokens, length),
                RowBlock.of(expected, 1, length + 3, rows, length));
        tested
            .floats()
            .weightedSums(
                RowBlock.of(weights, 1, 130, rows, tokens),
                RowBlock.of(values, 2, length + 1, tokens, length),
                RowBlock.of(found, 1, length + 3, rows, length));
        assertThat(found).as("seed %d", SEED).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 32, 48, 64, 128})
  void productsWithSelectedRows(int pairs) {
    int depth = 2 * pairs;
    float[] b = randomFloats(9 * depth);
    int[] rowIndices = {8, 0, 3, 3, 7, 1, 0, 5, 2, 8};
    for (int rows = 1; rows <= 9; rows++) {
      float[] a = randomFloats(rows * depth);
      for (int count = 0; count <= 9; count++) {
        float[] expected = randomFloats(rows * 10 + 1);
        float[] actual = expected.clone();
        RowBlock c = RowBlock.of(expected, 1, 10, rows, count);
        scalar.patterns().gatheredProducts(a, b, rowIndices, 1, pairs, c);
        c.set(actual, 1, 10, rows, count);
        tested.patterns().gatheredProducts(a, b, rowIndices, 1, pairs, c);
        assertThat(actual).containsExactly(expected);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 32, 48, 64, 128})
  void rotations(int pairs) {
    float[] cosines = randomFloats(2 * pairs);
    float[] sines = randomFloats(2 * pairs);
    float[] negated = sines.clone();
    scalar.rows().scale(negated, 0, negated.length, -1);
    for (int count = 0; count <= 5; count++) {
      float[] expected = randomFloats(1 + count * 2 * pairs);
      float[] actual = expected.clone();
      scalar.patterns().rotate(expected, 1, count, pairs, cosines, sines, pairs);
      tested.patterns().rotate(actual, 1, count, pairs, cosines, sines, pairs);
      assertThat(actual).containsExactly(expected);
      scalar.patterns().rotate(expected, 1, count, pairs, cosines, negated, pairs);
      tested.patterns().rotate(actual, 1, count, pairs, cosines, negated, pairs);
      assertThat(actual).containsExactly(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 32, 64, 512})
  void productsBetweenRotations(int pairs) {
    int rotations = PatternKernels.ROTATION_STRIDE + 1;
    OffsetAngles offsetAngles =
        OffsetAngles.of(randomFloats(rotations * pairs), randomFloats(rotations * pairs), pairs);
    RopeAngles pageAngles = new RopeAngles(randomFloats(pairs), randomFloats(pairs));
    MemorySegment table = MemorySegment.ofArray(randomFloats(256 * 2 * pairs));
    RotaryPatterns b = new RotaryPatterns().set(table, offsetAngles, pairs);
    for (int rows = 1; rows <= PatternKernels.MAX_ROTATED_QUERIES; rows++) {
      for (int most : new int[] {3, 256}) { // few rows repeatedly, and all rows
        MemorySegment indices = selectedRows(3, most);
        float[] a = randomFloats(rows * 2 * pairs);
        float[] before = a.clone();
        float[] expected = randomFloats(rows * PageSize.TOKENS);
        float[] actual = expected.clone();
        scalar.patterns().rotatedProducts(a, rows, pageAngles, b, indices, 3, expected);
        tested.patterns().rotatedProducts(a, rows, pageAngles, b, indices, 3, actual);
        assertThat(actual).containsExactly(expected);
        assertThat(a).containsExactly(before);
      }
    }
  }

  /** The rows that a page's tokens select, behind a few unrelated bytes. */
  private MemorySegment selectedRows(int before, int most) {
    MemorySegment indices = Arena.ofAuto().allocate(before + PageSize.TOKENS);
    for (int i = 0; i < indices.byteSize(); i++) {
      indices.set(ValueLayout.JAVA_BYTE, i, (byte) (255 - random.nextInt(most)));
    }
    return indices;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 15, 16, 20, 64, 80, 129})
  void residualRanges(int depth) {
    float[] b = randomFloats(1 + 9 * depth);
    float[] x = randomFloats(3 + depth);
    for (float odd : new float[] {1, 3e38f, Float.NEGATIVE_INFINITY, Float.NaN}) {
      x[3 + depth / 2] = odd;
      for (int count = 0; count <= 9; count++) {
        float[] lowest = new float[9];
        float[] highest = new float[9];
        float[] foundLowest = new float[9];
        float[] foundHighest = new float[9];
        RowBlock rows = RowBlock.of(b, 1, depth, count, depth);
        scalar.patterns().residualRanges(x, 3, rows, lowest, highest);
        tested.patterns().residualRanges(x, 3, rows, foundLowest, foundHighest);
        assertThat(foundLowest).containsExactly(lowest);
        assertThat(foundHighest).containsExactly(highest);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 5, 8})
  void weightsGoToTheRowsOfTokens(int rows) {
    float[] weights = randomFloats(rows * PageSize.TOKENS);
    for (int most : new int[] {3, 256}) { // few rows repeatedly, and all rows
      MemorySegment indices = selectedRows(5, most);
      float[] expected = randomFloats(256 * 8);
      float[] actual = expected.clone();
      scalar.patterns().scatterAdd(weights, rows, expected, 8, indices, 5);
      tested.patterns().scatterAdd(weights, rows, actual, 8, indices, 5);
      assertThat(actual).containsExactly(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 11})
  void codesAreUnpacked(int stages) {
    StageCodes layout = new StageCodes(stages);
    short[] codes = new short[PageSize.TOKENS * stages];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (short) random.nextInt(1 << 12);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment packed = arena.allocate(layout.bytes() + 3);
      layout.pack(codes, 0, packed, 3);
      byte[] expected = new byte[2 * stages * PageSize.TOKENS];
      byte[] actual = new byte[expected.length];
      scalar.codebooks().unpackStages(packed, 3, stages, expected);
      tested.codebooks().unpackStages(packed, 3, stages, actual);
      assertThat(actual).containsExactly(expected);
      for (int i = 0; i < codes.length; i++) {
        int first = 2 * (i % stages) * PageSize.TOKENS + i / stages;
        assertThat(expected[first] | expected[first + PageSize.TOKENS] << 6).isEqualTo(codes[i]);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 32, 48, 64, 80, 128})
  void sumsOfSelectedRows(int pairs) {
    int sets = 30;
    int width = 2 * pairs;
    byte[] numbers = new byte[sets * Int8Codebooks.CODEWORDS * width];
    random.nextBytes(numbers);
    byte[] indices = new byte[sets * PageSize.TOKENS];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = (byte) random.nextInt(Int8Codebooks.CODEWORDS);
    }
    Int8Codebooks codebooks =
        new Int8Codebooks(sets, pairs, numbers, randomFloats(pairs), randomFloats(width));
    float[] angles = randomFloats(PageSize.TOKENS * pairs);
    float[] scales = randomFloats(PageSize.TOKENS);
    RotaryCodes codes = new RotaryCodes().set(codebooks, indices, scales, angles, angles);
    for (int tokens : new int[] {0, 1, 3, 8, 100, PageSize.TOKENS}) {
      float[] rotated = new float[tokens * width];
      float[] found = new float[tokens * width];
      short[] scratch = new short[tokens * width];
      for (int from : new int[] {0, tokens / 3}) {
        scalar.codebooks().rotatedSums(codes, from, tokens, scratch, rotated);
        tested.codebooks().rotatedSums(codes, from, tokens, scratch, found);
        assertThat(found).containsExactly(rotated);
      }

      float[] floats = randomFloats(1 + numbers.length);
      for (int any : new int[] {width - 5, width}) {
        scalar.codebooks().gatheredSums(floats, 1, indices, sets, tokens, any, rotated);
        tested.codebooks().gatheredSums(floats, 1, indices, sets, tokens, any, found);
        assertThat(found).containsExactly(rotated);
      }

      float[] dots = new float[tokens];
      float[] foundDots = new float[tokens];
      scalar.codebooks().rowDots(rotated, floats, tokens, Math.min(width, 64), dots);
      tested.codebooks().rowDots(rotated, floats, tokens, Math.min(width, 64), foundDots);
      assertThat(foundDots).containsExactly(dots);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "5, 32", "10, 32", "11, 32", "22, 32", "10, 48", "23, 64", "13, 128"})
  void scoresOfSelectedRows(int sets, int pairs) {
    int width = 2 * pairs;
    byte[] numbers = new byte[sets * Int8Codebooks.CODEWORDS * width];
    random.nextBytes(numbers);
    byte[] indices = new byte[sets * PageSize.TOKENS];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = (byte) random.nextInt(Int8Codebooks.CODEWORDS);
    }
    Int8Codebooks codebooks =
        new Int8Codebooks(sets, pairs, numbers, randomFloats(pairs), randomFloats(width));
    float[] angles = randomFloats(PageSize.TOKENS * pairs);
    float[] scales = randomFloats(PageSize.TOKENS);
    RotaryCodes codes = new RotaryCodes().set(codebooks, indices, scales, angles, angles);
    short[] sums = new short[CodebookKernels.scoringScratch(width)];
    float[] keys = new float[sums.length];
    for (int count : new int[] {1, 3, 4, 8}) {
      float[] queries = randomFloats(count * width);
      float[] expected = new float[count * PageSize.TOKENS];
      float[] actual = expected.clone();
      scalar.codebooks().rotatedScores(codes, queries, count, sums, keys, expected);
      tested.codebooks().rotatedScores(codes, queries, count, sums, keys, actual);
      assertThat(actual).containsExactly(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 5, 8})
  void weightsOfTokensByRow(int rows) {
    float[] probabilities = randomFloats(rows * PageSize.TOKENS);
    float[] inverseScales = randomFloats(rows);
    float[] scales = randomFloats(PageSize.TOKENS);
    float[] totals = randomFloats(rows);
    float[] foundTotals = totals.clone();
    float[] weights = randomFloats(PageSize.TOKENS * 8);
    float[] found = weights.clone();
    scalar.codebooks().tokenWeights(probabilities, rows, inverseScales, scales, 8, totals, weights);
    tested
        .codebooks()
        .tokenWeights(probabilities, rows, inverseScales, scales, 8, foundTotals, found);
    assertThat(found).containsExactly(weights);
    assertThat(foundTotals).containsExactly(totals);
  }

  /** Some values are NaN, and finally all of them. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7})
  void minDistances(int at) {
    int rows = Int8Codebooks.CODEWORDS;
    float[] squares = randomFloats(at + rows * rows);
    float[] products = randomFloats(at + rows);
    Arrays.fill(squares, at + 2 * rows, at + 3 * rows, 0);
    float[] expected = new float[rows];
    float[] actual = new float[rows];
    for (float odd : new float[] {1, 0, -0f, 3e38f, Float.POSITIVE_INFINITY, Float.NaN}) {
      for (int place = at; place < at + rows; place += 5) {
        products[place] = odd;
      }
      squares[at + rows + 3] = odd;
      scalar.codebooks().minDistances(squares, at, products, at, expected);
      tested.codebooks().minDistances(squares, at, products, at, actual);
      assertThat(actual).containsExactly(expected);
    }
    Arrays.fill(products, Float.NaN);
    tested.codebooks().minDistances(squares, at, products, at, actual);
    assertThat(actual).containsOnly(Float.POSITIVE_INFINITY);
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8})
  void weightsGoIntoBins(int stride) {
    int sets = 3;
    byte[] indices = new byte[sets * PageSize.TOKENS];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = (byte) random.nextInt(4); // few rows repeatedly
    }
    float[] weights = randomFloats(PageSize.TOKENS * stride);
    float[] expected = randomFloats(sets * Int8Codebooks.CODEWORDS * stride);
    float[] actual = expected.clone();
    scalar.codebooks().scatterAdd(indices, sets, PageSize.TOKENS, weights, stride, expected);
    tested.codebooks().scatterAdd(indices, sets, PageSize.TOKENS, weights, stride, actual);
    assertThat(actual).containsExactly(expected);
  }

  @ParameterizedTest
  @MethodSource("awkwardSizes")
  void rowOperations(int count) {
    float[] x = randomFloats(count + 2);
    float[] y = randomFloats(count + 2);
    assertThat(tested.rows().maximum(x, 1, count)).isEqualTo(scalar.rows().maximum(x, 1, count));

    float[] expected = x.clone();
    float[] found = x.clone();
    scalar.rows().add(expected, 1, y, 2, count);
    tested.rows().add(found, 1, y, 2, count);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);

    scalar.rows().multiply(expected, 1, y, 2, expected, 1, count);
    tested.rows().multiply(found, 1, y, 2, found, 1, count);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);

    scalar.rows().scale(expected, 1, count, 0.3f);
    tested.rows().scale(found, 1, count, 0.3f);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);

    scalar.rows().gatedSilu(expected, y, 1, count);
    tested.rows().gatedSilu(found, y, 1, count);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);

    scalar.rows().gatedGelu(expected, y, 1, count);
    tested.rows().gatedGelu(found, y, 1, count);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);

    if (count > 0) {
      scalar.rows().rmsNorm(x, 1, y, 1e-6f, expected, 2, count);
      tested.rows().rmsNorm(x, 1, y, 1e-6f, found, 2, count);
      assertThat(found).as("seed %d", SEED).isEqualTo(expected);
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
    float[] expected = gate.clone();
    scalar.rows().gatedSilu(expected, up, 0, gate.length);
    tested.rows().gatedSilu(gate, up, 0, gate.length);
    assertThat(gate).isEqualTo(expected);
    for (float value : gate) {
      assertThat(value).isFinite();
    }
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
    float[] expected = gate.clone();
    scalar.rows().gatedGelu(expected, up, 0, gate.length);
    tested.rows().gatedGelu(gate, up, 0, gate.length);
    assertThat(gate).isEqualTo(expected);
    for (float value : gate) {
      assertThat(value).isFinite();
    }
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
      float[] expected = new float[2 * columns];
      float[] found = new float[2 * columns];
      scalar.expand(matrix, 1, 2, expected, 0);
      tested.expand(matrix, 1, 2, found, 0);
      assertThat(found).isEqualTo(expected);
    }
  }

  private float[] randomFloats(int count) {
    return Gaussians.of(random, count);
  }
}
