package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.OffsetAngles;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RopeAngles;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.RotaryPatterns;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.BitCodes;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Kernels of patterns and codebooks have the bits of the scalar kernels. */
public abstract class PatternContract extends KernelComparison {
  protected PatternContract(Kernels tested) {
    super(tested);
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
        int height = rows;
        int width = count;
        assertSame(
            randomFloats(rows * 10 + 1),
            (kernels, out) ->
                kernels
                    .patterns()
                    .gatheredProducts(
                        a, b, rowIndices, 1, pairs, RowBlock.of(out, 1, 10, height, width)));
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
      int rows = count;
      assertSame(
          randomFloats(1 + count * 2 * pairs),
          (kernels, out) -> {
            kernels.patterns().rotate(out, 1, rows, pairs, cosines, sines, pairs);
            kernels.patterns().rotate(out, 1, rows, pairs, cosines, negated, pairs);
          });
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
        int queries = rows;
        assertSame(
            randomFloats(rows * PageSize.TOKENS),
            (kernels, out) ->
                kernels.patterns().rotatedProducts(a, queries, pageAngles, b, indices, 3, out));
        assertThat(a).isEqualTo(before);
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
        assertThat(foundLowest).isEqualTo(lowest);
        assertThat(foundHighest).isEqualTo(highest);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 5, 8})
  void weightsGoToTheRowsOfTokens(int rows) {
    float[] weights = randomFloats(rows * PageSize.TOKENS);
    for (int most : new int[] {3, 256}) { // few rows repeatedly, and all rows
      MemorySegment indices = selectedRows(5, most);
      assertSame(
          randomFloats(256 * 8),
          (kernels, out) -> kernels.patterns().scatterAdd(weights, rows, out, 8, indices, 5));
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
      assertThat(actual).isEqualTo(expected);
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
    RotaryCodes codes = randomCodes(sets, pairs);
    float[] floats = randomFloats(1 + sets * Int8Codebooks.CODEWORDS * width);
    for (int tokens : new int[] {0, 1, 3, 8, 100, PageSize.TOKENS}) {
      float[] rotated = new float[tokens * width];
      float[] found = new float[tokens * width];
      short[] scratch = new short[tokens * width];
      for (int from : new int[] {0, tokens / 3}) {
        scalar.codebooks().rotatedSums(codes, from, tokens, scratch, rotated);
        tested.codebooks().rotatedSums(codes, from, tokens, scratch, found);
        assertThat(found).isEqualTo(rotated);
      }

      for (int any : new int[] {width - 5, width}) {
        scalar.codebooks().gatheredSums(floats, 1, codes.indices(), sets, tokens, any, rotated);
        tested.codebooks().gatheredSums(floats, 1, codes.indices(), sets, tokens, any, found);
        assertThat(found).isEqualTo(rotated);
      }

      float[] dots = new float[tokens];
      float[] foundDots = new float[tokens];
      scalar.codebooks().rowDots(rotated, floats, tokens, Math.min(width, 64), dots);
      tested.codebooks().rowDots(rotated, floats, tokens, Math.min(width, 64), foundDots);
      assertThat(foundDots).isEqualTo(dots);
    }
  }

  private RotaryCodes randomCodes(int sets, int pairs) {
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
    return new RotaryCodes().set(codebooks, indices, scales, angles, angles);
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "5, 32", "10, 32", "11, 32", "22, 32", "10, 48", "23, 64", "13, 128"})
  void scoresOfSelectedRows(int sets, int pairs) {
    int width = 2 * pairs;
    RotaryCodes codes = randomCodes(sets, pairs);
    short[] sums = new short[CodebookKernels.scoringScratch(width)];
    float[] keys = new float[sums.length];
    for (int count : new int[] {1, 3, 4, 8}) {
      float[] queries = randomFloats(count * width);
      assertSame(
          new float[count * PageSize.TOKENS],
          (kernels, out) ->
              kernels.codebooks().rotatedScores(codes, queries, count, sums, keys, out));
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "3, 0", "4, 3", "5, 4", "8, 0", "8, 5"})
  void weightsOfTokensByRow(int rows, int at) {
    int stride = 8 + at;
    float[] probabilities = randomFloats(rows * PageSize.TOKENS);
    float[] inverseScales = randomFloats(rows);
    float[] scales = randomFloats(PageSize.TOKENS);
    float[] totals = randomFloats(rows);
    float[] foundTotals = totals.clone();
    float[] weights = randomFloats(PageSize.TOKENS * stride);
    float[] found = weights.clone();
    scalar
        .codebooks()
        .tokenWeights(
            probabilities, inverseScales, scales, totals, columns(weights, at, stride, rows));
    tested
        .codebooks()
        .tokenWeights(
            probabilities, inverseScales, scales, foundTotals, columns(found, at, stride, rows));
    assertThat(found).isEqualTo(weights);
    assertThat(foundTotals).isEqualTo(totals);
  }

  private static RowBlock columns(float[] weights, int at, int stride, int rows) {
    return RowBlock.of(weights, at, stride, PageSize.TOKENS, rows);
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
      assertThat(actual).isEqualTo(expected);
    }
    Arrays.fill(products, Float.NaN);
    tested.codebooks().minDistances(squares, at, products, at, actual);
    assertThat(actual).containsOnly(Float.POSITIVE_INFINITY);
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8, 16, 28})
  void weightsGoIntoBins(int stride) {
    int sets = 3;
    byte[] indices = new byte[sets * PageSize.TOKENS];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = (byte) random.nextInt(4); // few rows repeatedly
    }
    float[] weights = randomFloats(PageSize.TOKENS * stride);
    assertSame(
        randomFloats(sets * Int8Codebooks.CODEWORDS * stride),
        (kernels, out) ->
            kernels
                .codebooks()
                .scatterAdd(
                    indices, sets, PageSize.TOKENS, weights, stride, MemorySegment.ofArray(out)));
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 8, 16, 28})
  void weightsGoToSetBits(int stride) {
    int sets = 11;
    byte[] bits = new byte[sets * BitCodes.SET_BYTES];
    random.nextBytes(bits);
    float[] weights = randomFloats(PageSize.TOKENS * stride);
    MemorySegment scratch = MemorySegment.ofArray(new float[CodebookKernels.setBitScratch(stride)]);
    assertSame(
        randomFloats(sets * stride),
        (kernels, out) ->
            kernels
                .codebooks()
                .addToSetBits(bits, sets, weights, stride, scratch, MemorySegment.ofArray(out)));
  }

  @ParameterizedTest
  @CsvSource({"1, 4, 2", "3, 4, 1", "4, 5, 0", "7, 16, 7", "8, 16, 8"})
  void scaledColumnsOfBins(int rows, int stride, int column) {
    int count = 67;
    MemorySegment bins = MemorySegment.ofArray(randomFloats(count * stride));
    float[] factors = randomFloats(rows);
    assertSame(
        new float[rows * count],
        (kernels, out) ->
            kernels.codebooks().scaledColumns(bins, count, stride, column, rows, factors, out));
  }
}
