package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.GemmKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.QuantizedActivations;
import dev.kvasir.kernel.QuantizedWeights;
import dev.kvasir.kernel.QuantizedWeights.SuperBlockScales;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.ScaleFormat;
import dev.kvasir.kernel.ScaleFormat.ScaleEncoding;
import dev.kvasir.kernel.TileWorkspace;
import dev.kvasir.kernel.WeightCodes;
import dev.kvasir.memory.CountedArena;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GEMM with quantized weights has the bits of the scalar kernels, for all edge-case sizes. */
public abstract class GemmContract {
  private static final long SEED = 7;

  private static final byte[] LEVELS = {
    -127, -104, -83, 0, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 127
  };
  private static final WeightCodes LEVELS_CODES = WeightCodes.levels(LEVELS);

  private final Random random = new Random(SEED);
  private final Kernels scalar;
  private final Kernels tested;

  protected GemmContract(Kernels tested) {
    this.scalar = new ScalarKernels();
    this.tested = tested;
  }

  /** Codes and lengths of groups, as types of weights combine them with scales in floats. */
  private static final Map<WeightCodes, List<Integer>> GROUPS =
      Map.of(
          WeightCodes.NIBBLES,
          List.of(16, 32),
          WeightCodes.BYTES,
          List.of(32),
          LEVELS_CODES,
          List.of(16, 32));

  static Stream<Arguments> quantizedShapes() {
    return GROUPS.entrySet().stream()
        .flatMap(entry -> entry.getValue().stream().map(group -> Map.entry(entry.getKey(), group)))
        .flatMap(
            kind ->
                Stream.of(false, true)
                    .flatMap(minimums -> shapes(kind.getKey(), kind.getValue(), minimums)));
  }

  private static Stream<Arguments> shapes(WeightCodes coding, int group, boolean minimums) {
    return Stream.of(
        Arguments.of(coding, group, minimums, 1, 32),
        Arguments.of(coding, group, minimums, 15, 64),
        Arguments.of(coding, group, minimums, 16, 96),
        Arguments.of(coding, group, minimums, 33, 512),
        Arguments.of(coding, group, minimums, 64, 1536));
  }

  @ParameterizedTest
  @MethodSource("quantizedShapes")
  void quantizedProducts(WeightCodes coding, int group, boolean minimums, int rows, int columns) {
    try (CountedArena arena = new CountedArena()) {
      QuantizedWeights matrix = randomMatrix(arena, coding, group, minimums, rows, columns);
      for (int count : new int[] {1, 2, 3, 5, 8, 9, 12, 16, 39}) {
        assertProductsAgree(matrix, randomFloats(count * columns), count);
      }
      // Every sum at its largest: nothing may overflow.
      float[] x = new float[25 * columns];
      for (int count : new int[] {1, 25}) {
        for (float sign : new float[] {1, -1}) {
          Arrays.fill(x, sign);
          for (boolean highest : new boolean[] {true, false}) {
            QuantizedWeights extreme =
                extremeMatrix(arena, coding, group, minimums, rows, columns, highest);
            assertProductsAgree(extreme, x, count);
          }
        }
      }
    }
  }

  static Stream<WeightCodes> codesOfLongGroups() {
    return GROUPS.keySet().stream().filter(coding -> GROUPS.get(coding).contains(32));
  }

  /** Rows that are so long and numerous that implementations split them into several calls. */
  @ParameterizedTest
  @MethodSource("codesOfLongGroups")
  void quantizedProductsOfLongRows(WeightCodes coding) {
    int columns = 16_384;
    try (CountedArena arena = new CountedArena()) {
      QuantizedWeights matrix = randomMatrix(arena, coding, 32, true, 17, columns);
      assertProductsAgree(matrix, randomFloats(51 * columns), 51);
    }
  }

  static Stream<Arguments> compactScales() {
    return Stream.of(
            new ScaleFormat(ScaleEncoding.HALVES, false, 0),
            new ScaleFormat(ScaleEncoding.HALVES, false, -8),
            new ScaleFormat(ScaleEncoding.HALVES, true, 0),
            new ScaleFormat(ScaleEncoding.PRODUCTS, false, 0),
            new ScaleFormat(ScaleEncoding.PRODUCTS, false, -4),
            new ScaleFormat(ScaleEncoding.PRODUCTS, true, 0))
        .flatMap(format -> Stream.of(16, 32).flatMap(group -> compactScales(format, group)));
  }

  /** What types of weights combine. */
  private static Stream<Arguments> compactScales(ScaleFormat format, int group) {
    boolean products = format.encoding() == ScaleEncoding.PRODUCTS;
    if (group == 16) {
      return products
          ? Stream.of(
              Arguments.of(format, WeightCodes.NIBBLES, 16, 1, 256),
              Arguments.of(format, WeightCodes.NIBBLES, 16, 33, 1536),
              Arguments.of(format, WeightCodes.of(-32, 31), 16, 1, 256),
              Arguments.of(format, WeightCodes.of(-32, 31), 16, 23, 768))
          : Stream.of();
    }
    return Stream.of(
        Arguments.of(format, WeightCodes.NIBBLES, 32, 1, 256),
        Arguments.of(format, WeightCodes.NIBBLES, 32, 33, 1536),
        Arguments.of(format, WeightCodes.of(0, 31), 32, 18, 768),
        Arguments.of(format, WeightCodes.of(-16, 15), 32, 1, 256),
        Arguments.of(format, LEVELS_CODES, 32, 17, 512),
        products
            ? Arguments.of(format, LEVELS_CODES, 32, 16, 768)
            : Arguments.of(format, WeightCodes.BYTES, 32, 23, 768));
  }

  /** Compact scales give the same bits as the same scales as floats. */
  @ParameterizedTest
  @MethodSource("compactScales")
  void compactScalesAreThoseOfFloats(
      ScaleFormat format, WeightCodes coding, int group, int rows, int columns) {
    try (CountedArena arena = new CountedArena()) {
      QuantizedWeights compact = compactMatrix(arena, format, coding, group, rows, columns);
      QuantizedWeights floats = withFloats(arena, compact);
      for (int count : new int[] {1, 2, 3, 4, 5, 7, 8, 16, 21}) {
        float[] x = randomFloats(count * columns);
        float[] expected = products(scalar, floats, x, count);
        assertThat(products(scalar, compact, x, count)).isEqualTo(expected);
        assertThat(products(tested, compact, x, count))
            .as("seed %d, %d rows", SEED, count)
            .isEqualTo(expected);
      }
    }
  }

  static Stream<Arguments> fiveAndSixBits() {
    return compactScales().filter(kind -> isFiveOrSixBits((WeightCodes) kind.get()[1]));
  }

  private static boolean isFiveOrSixBits(WeightCodes coding) {
    return coding.bits() == 5 || coding.bits() == 6;
  }

  /** Every sum at its largest: nothing may overflow. */
  @ParameterizedTest
  @MethodSource("fiveAndSixBits")
  void extremeCodesOfFiveAndSixBits(
      ScaleFormat format, WeightCodes coding, int group, int rows, int columns) {
    try (CountedArena arena = new CountedArena()) {
      float[] x = new float[25 * columns];
      for (boolean highest : new boolean[] {true, false}) {
        byte[] codes = extremeCodes(coding, rows * columns, highest);
        QuantizedWeights matrix = compactMatrix(arena, format, coding, group, rows, columns, codes);
        for (float sign : new float[] {1, -1}) {
          Arrays.fill(x, sign);
          assertProductsAgree(matrix, x, 1);
          assertProductsAgree(matrix, x, 25);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("fiveAndSixBits")
  void someRowsOfFiveAndSixBitsAreThoseOfAll(
      ScaleFormat format, WeightCodes coding, int group, int rows, int columns) {
    try (CountedArena arena = new CountedArena()) {
      assertSomeRowsAreThoseOfAll(compactMatrix(arena, format, coding, group, rows, columns));
    }
  }

  static Stream<Arguments> kindsOfFiveAndSixBits() {
    ScaleFormat halves = new ScaleFormat(ScaleEncoding.HALVES, true, 0);
    ScaleFormat products = new ScaleFormat(ScaleEncoding.PRODUCTS, true, 0);
    return Stream.of(
        Arguments.of(halves, WeightCodes.of(0, 31), 32),
        Arguments.of(products, WeightCodes.of(-16, 15), 32),
        Arguments.of(
            new ScaleFormat(ScaleEncoding.PRODUCTS, false, 0), WeightCodes.of(-32, 31), 16));
  }

  @ParameterizedTest
  @MethodSource("kindsOfFiveAndSixBits")
  void longRowsOfFiveAndSixBits(ScaleFormat format, WeightCodes coding, int group) {
    int columns = 16_384;
    try (CountedArena arena = new CountedArena()) {
      QuantizedWeights matrix = compactMatrix(arena, format, coding, group, 17, columns);
      assertProductsAgree(matrix, randomFloats(51 * columns), 51);
    }
  }

  @ParameterizedTest
  @MethodSource("kindsOfFiveAndSixBits")
  void oddActivationsWithFiveAndSixBits(ScaleFormat format, WeightCodes coding, int group) {
    try (CountedArena arena = new CountedArena()) {
      QuantizedWeights matrix = compactMatrix(arena, format, coding, group, 20, 256);
      for (float odd : new float[] {0, 1e-44f, 3e38f, Float.NaN, Float.NEGATIVE_INFINITY}) {
        assertProductsAgreeWith(odd, matrix);
      }
    }
  }

  private QuantizedWeights compactMatrix(
      CountedArena arena,
      ScaleFormat format,
      WeightCodes coding,
      int group,
      int rows,
      int columns) {
    byte[] codes = randomCodes(coding, rows * columns);
    return compactMatrix(arena, format, coding, group, rows, columns, codes);
  }

  private QuantizedWeights compactMatrix(
      CountedArena arena,
      ScaleFormat format,
      WeightCodes coding,
      int group,
      int rows,
      int columns,
      byte[] allCodes) {
    QuantizedWeights matrix = new QuantizedWeights(arena, rows, columns, coding, group, format);
    for (int tile = 0; tile < matrix.tiles(); tile++) {
      int first = tile * QuantizedWeights.TILE_ROWS;
      int count = Math.min(QuantizedWeights.TILE_ROWS, rows - first);
      byte[] codes = Arrays.copyOfRange(allCodes, first * columns, (first + count) * columns);
      if (format.encoding() == ScaleEncoding.PRODUCTS) {
        int blocks = count * columns / ScaleFormat.SUPER_BLOCK;
        int groups = count * matrix.groups();
        matrix.setTile(
            tile, count, codes, randomProducts(blocks, groups), randomProducts(blocks, groups));
      } else {
        int groups = count * matrix.groups();
        matrix.setTile(tile, count, codes, randomHalves(groups), randomHalves(groups));
      }
    }
    return matrix;
  }

  /** Returns a matrix with the same codes, scales and minimums. */
  private static QuantizedWeights withFloats(CountedArena arena, QuantizedWeights compact) {
    int columns = compact.columns();
    int groups = compact.groups();
    byte[] codes = new byte[compact.rows() * columns];
    float[] scales = new float[compact.rows() * groups];
    float[] minimums = new float[scales.length];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) compact.code(i / columns, i % columns);
    }
    for (int i = 0; i < scales.length; i++) {
      scales[i] = compact.scale(i / groups, i % groups);
      minimums[i] = compact.minimum(i / groups, i % groups);
    }
    return matrix(
        arena,
        compact.coding(),
        compact.groupLength(),
        compact.hasMinimums(),
        compact.rows(),
        columns,
        codes,
        scales,
        minimums);
  }

  /** Halves of either sign and every size, including the smallest and zeros. */
  private float[] randomHalves(int count) {
    float[] halves = new float[count];
    for (int i = 0; i < count; i++) {
      halves[i] = Float.float16ToFloat(randomHalf());
    }
    return halves;
  }

  private short randomHalf() {
    int magnitude = random.nextInt(8) == 0 ? random.nextInt(4) : random.nextInt(0x7C00);
    return (short) (random.nextBoolean() ? magnitude : magnitude | 0x8000);
  }

  private SuperBlockScales randomProducts(int blocks, int groups) {
    short[] halves = new short[blocks];
    for (int i = 0; i < blocks; i++) {
      halves[i] = randomHalf();
    }
    byte[] factors = new byte[groups];
    random.nextBytes(factors);
    return new SuperBlockScales(halves, factors);
  }

  /** Zeros, values too small to quantize, and non-finite values, which must propagate. */
  @ParameterizedTest
  @ValueSource(
      floats = {
        0,
        -0f,
        1e-44f,
        1e-37f,
        3e38f,
        Float.NaN,
        Float.NEGATIVE_INFINITY,
        Float.POSITIVE_INFINITY
      })
  void productsWithOddActivations(float odd) {
    try (CountedArena arena = new CountedArena()) {
      for (WeightCodes coding : List.of(WeightCodes.NIBBLES, WeightCodes.BYTES)) {
        assertProductsAgreeWith(odd, randomMatrix(arena, coding, 32, true, 20, 96));
      }
    }
  }

  private void assertProductsAgreeWith(float odd, QuantizedWeights matrix) {
    for (int count : new int[] {1, 11, 16}) {
      float[] x = randomFloats(count * matrix.columns());
      Arrays.fill(x, 0, 32, odd);
      x[(count - 1) * matrix.columns() + 70] = odd;
      assertProductsAgree(matrix, x, count);
    }
  }

  /** Experts multiply some of the rows each; a row's result must not depend on which. */
  @ParameterizedTest
  @MethodSource("quantizedShapes")
  void productsOfSomeRowsAreThoseOfAll(
      WeightCodes coding, int group, boolean minimums, int rows, int columns) {
    try (CountedArena arena = new CountedArena()) {
      assertSomeRowsAreThoseOfAll(randomMatrix(arena, coding, group, minimums, rows, columns));
    }
  }

  private void assertSomeRowsAreThoseOfAll(QuantizedWeights matrix) {
    int rows = matrix.rows();
    int columns = matrix.columns();
    for (int count : new int[] {1, 5, 8, 9, 30}) {
      float[] x = randomFloats(count * columns);
      float[] all = products(scalar, matrix, x, count);
      GemmKernels gemm = tested.gemm();
      QuantizedActivations quantized = new QuantizedActivations();
      quantized.begin(count, columns);
      gemm.quantize(quantized, x, 0, count);
      float[] out = new float[all.length];
      TileWorkspace workspace = new TileWorkspace();
      for (int first = 0, length = 1; first < count; first += length++) {
        int end = Math.min(first + length, count);
        RowBlock some = RowBlock.of(out, first * rows, rows, end - first, rows);
        gemm.products(matrix, 0, matrix.tiles(), quantized, first, some, workspace);
        assertThat(Arrays.copyOf(out, end * rows))
            .as("seed %d, rows %d to %d of %d", SEED, first, end, count)
            .isEqualTo(Arrays.copyOf(all, end * rows));
      }
      assertThat(out).isEqualTo(all);
    }
  }

  private void assertProductsAgree(QuantizedWeights matrix, float[] x, int rows) {
    assertThat(products(tested, matrix, x, rows))
        .as("seed %d, %d rows", SEED, rows)
        .isEqualTo(products(scalar, matrix, x, rows));
  }

  private static float[] products(Kernels kernels, QuantizedWeights matrix, float[] x, int count) {
    GemmKernels gemm = kernels.gemm();
    QuantizedActivations activations = new QuantizedActivations();
    activations.begin(count, matrix.columns());
    gemm.quantize(activations, x, 0, count / 2);
    gemm.quantize(activations, x, count / 2, count);
    float[] out = new float[count * matrix.rows() + 1];
    TileWorkspace workspace = new TileWorkspace();
    int middle = matrix.tiles() / 2;
    RowBlock all = RowBlock.of(out, count, matrix.rows());
    gemm.products(matrix, 0, middle, activations, 0, all, workspace);
    gemm.products(matrix, middle, matrix.tiles(), activations, 0, all, workspace);
    return out;
  }

  /** Products of the codes agree with products of the floats they represent. */
  @ParameterizedTest
  @MethodSource("quantizedShapes")
  void quantizedProductsAreFloatProducts(
      WeightCodes coding, int group, boolean minimums, int rows, int columns) {
    try (CountedArena arena = new CountedArena()) {
      QuantizedWeights matrix = randomMatrix(arena, coding, group, minimums, rows, columns);
      float[] weights = new float[rows * columns];
      tested.expand(matrix, 0, rows, weights, 0);
      float[] x = randomFloats(columns);
      float[] expected = new float[rows];
      scalar
          .floats()
          .products(
              RowBlock.of(x, 1, columns),
              RowBlock.of(weights, rows, columns),
              RowBlock.of(expected, 1, rows));
      float[] found = products(tested, matrix, x, 1);
      for (int r = 0; r < rows; r++) {
        float bound = roundingBound(weights, r * columns, x);
        assertThat(found[r]).as("row %d", r).isCloseTo(expected[r], within(bound));
      }
    }
  }

  /** An activation is off by at most 1/254 of its group's largest; floats add a little. */
  private static float roundingBound(float[] weights, int at, float[] x) {
    double bound = 1e-3;
    for (int group = 0; group < x.length; group += QuantizedActivations.GROUP) {
      float largest = 0;
      double sum = 0;
      for (int i = group; i < group + QuantizedActivations.GROUP; i++) {
        largest = Math.max(largest, Math.abs(x[i]));
        sum += Math.abs(weights[at + i]);
      }
      bound += sum * largest / 254;
    }
    return (float) bound;
  }

  private QuantizedWeights randomMatrix(
      CountedArena arena, WeightCodes coding, int group, boolean minimums, int rows, int columns) {
    byte[] codes = randomCodes(coding, rows * columns);
    float[] scales = randomFloats(codes.length / group);
    float[] lowest = randomFloats(codes.length / group);
    return matrix(arena, coding, group, minimums, rows, columns, codes, scales, lowest);
  }

  private byte[] randomCodes(WeightCodes coding, int count) {
    byte[] codes = new byte[count];
    for (int i = 0; i < count; i++) {
      int stored = random.nextInt(1 << coding.bits());
      codes[i] = coding.areLevels() ? LEVELS[stored] : (byte) (coding.lowest() + stored);
    }
    return codes;
  }

  private QuantizedWeights extremeMatrix(
      CountedArena arena,
      WeightCodes coding,
      int group,
      boolean minimums,
      int rows,
      int columns,
      boolean highest) {
    byte[] codes = extremeCodes(coding, rows * columns, highest);
    float[] ones = new float[codes.length / group];
    Arrays.fill(ones, 1);
    return matrix(arena, coding, group, minimums, rows, columns, codes, ones, ones);
  }

  private static byte[] extremeCodes(WeightCodes coding, int count, boolean highest) {
    byte[] codes = new byte[count];
    int largest = coding.lowest() + (1 << coding.bits()) - 1;
    byte lowest = coding.areLevels() ? LEVELS[0] : (byte) coding.lowest();
    Arrays.fill(codes, highest ? coding.areLevels() ? LEVELS[15] : (byte) largest : lowest);
    return codes;
  }

  private static QuantizedWeights matrix(
      CountedArena arena,
      WeightCodes coding,
      int group,
      boolean hasMinimums,
      int rows,
      int columns,
      byte[] codes,
      float[] scales,
      float[] minimums) {
    QuantizedWeights matrix =
        new QuantizedWeights(arena, rows, columns, coding, group, hasMinimums);
    int groups = columns / group;
    for (int tile = 0; tile < matrix.tiles(); tile++) {
      int first = tile * QuantizedWeights.TILE_ROWS;
      int end = Math.min(first + QuantizedWeights.TILE_ROWS, rows);
      matrix.setTile(
          tile,
          end - first,
          Arrays.copyOfRange(codes, first * columns, end * columns),
          Arrays.copyOfRange(scales, first * groups, end * groups),
          Arrays.copyOfRange(minimums, first * groups, end * groups));
    }
    return matrix;
  }

  private float[] randomFloats(int count) {
    return Gaussians.of(random, count);
  }
}
