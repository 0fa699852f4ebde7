package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodeLayout;
import dev.kvasir.kernel.ScalarKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of codes of different widths have the bits of the scalar kernels. */
public abstract class RowCodesContract {
  private static final long SEED = 19;
  private static final int TOKENS = 128;
  private static final float UNTOUCHED = 7;
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Random random = new Random(SEED);
  private final Kernels scalar;
  private final Kernels tested;

  protected RowCodesContract(Kernels tested) {
    this.scalar = new ScalarKernels();
    this.tested = tested;
  }

  static IntStream widths() {
    return IntStream.of(32, 64, 96, 128, 192, 576, 1056);
  }

  @ParameterizedTest
  @MethodSource("widths")
  void codesOfAllWidths(int width) {
    for (int most = 0; most <= RowCodeLayout.MAX_BITS; most++) {
      int bound = most + 1;
      assertDecodedAlike(codes(width, i -> random.nextInt(bound)));
      assertDecodedAlike(codes(width, i -> random.nextInt(4) == 0 ? random.nextInt(bound) : 0));
    }
  }

  @ParameterizedTest
  @MethodSource("widths")
  void codesOfOneWidth(int width) {
    for (int k = 0; k <= RowCodeLayout.MAX_BITS; k++) {
      int bits = k;
      assertDecodedAlike(codes(width, i -> bits));
    }
  }

  /** A typical layout: channels ordered by importance. */
  @ParameterizedTest
  @MethodSource("widths")
  void codesOfTheFirstChannelsAlone(int width) {
    for (int end : new int[] {1, 7, 8, 9, width / 2, width - 8, width - 1}) {
      assertDecodedAlike(codes(width, i -> i < end ? 1 + random.nextInt(8) : 0));
      assertDecodedAlike(codes(width, i -> i >= end ? 1 + random.nextInt(8) : 0));
    }
  }

  private RowCodeLayout codes(int width, IntUnaryOperator bits) {
    return new RowCodeLayout(IntStream.range(0, width).map(bits).toArray(), floats(width));
  }

  /** Rows at every offset from a word boundary: one, some and all. */
  private void assertDecodedAlike(RowCodeLayout layout) {
    for (int count : new int[] {0, 1, 3, 17, 48, TOKENS}) {
      assertDecodedAlike(CodeBands.of(List.of(layout), count));
    }
  }

  private void assertDecodedAlike(CodeBands bands) {
    for (int tableRows : new int[] {1, 300}) {
      Rows rows = new Rows(bands, tableRows);
      float[] expected = new float[bands.rows() * bands.width() + 1];
      Arrays.fill(expected, UNTOUCHED);
      float[] found = expected.clone();
      rows.decode(scalar, expected);
      rows.decode(tested, found);
      assertThat(found).as("seed %d, %s", SEED, rows).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @MethodSource("widths")
  void bandsOfRowsWithDifferentLayouts(int width) {
    assertDecodedAlike(bands(width, 64, 48, 16));
    assertDecodedAlike(bands(width, 0, 5, 1, 0, 33));
  }

  /** For one query and for several, as many as registers hold and more. */
  @ParameterizedTest
  @MethodSource("widths")
  void productsWithRotatedRows(int width) {
    for (CodeBands bands : List.of(bands(width, 64, 48, 16), bands(width, 3, 0, 18))) {
      for (int i = 0; i < 2 * RowCodeKernels.MAX_ROWS; i++) {
        int queries = 1 + i / 2;
        Rows rows = new Rows(bands, tableRows(i));
        float[] angles = floats(bands.rows() * width / 2);
        float[] other = floats(bands.rows() * width / 2);
        float[] a = floats(queries * width);
        float[] expected = new float[queries * bands.rows()];
        float[] found = new float[queries * bands.rows()];
        rows.multiply(scalar, angles, other, a, queries, expected);
        rows.multiply(tested, angles, other, a, queries, found);
        assertThat(found).as("seed %d, %d of %s", SEED, queries, rows).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("widths")
  void weightedSumsOfRows(int width) {
    for (CodeBands bands :
        List.of(bands(width, 64, 48, 16), bands(width, 16, 0, 32), bands(width, 0, 0, 128))) {
      for (int i = 0; i < 2 * RowCodeKernels.MAX_ROWS; i++) {
        int sums = 1 + i / 2;
        Rows rows = new Rows(bands, tableRows(i));
        float[] w = weights(sums, bands.rows());
        float[] expected = floats(sums * width);
        float[] found = expected.clone();
        rows.sum(scalar, w, sums, expected);
        rows.sum(tested, w, sums, found);
        assertThat(found).as("seed %d, %d of %s", SEED, sums, rows).isEqualTo(expected);
      }
    }
  }

  /** Kernels take a shorter way if all rows have the same row of the table. */
  private static int tableRows(int turn) {
    return turn % 2 == 0 ? 1 : 40;
  }

  /** Weights of every size; one row of them is zero. */
  private float[] weights(int sums, int rows) {
    float[] w = floats(sums * rows);
    for (int i = 0; i < w.length; i++) {
      w[i] = i / rows == 2 ? 0 : (float) Math.exp(3 * w[i]);
    }
    return w;
  }

  /** Layouts from none to many bits, one of them with codes so wide that they are far apart. */
  private CodeBands bands(int width, int... counts) {
    List<RowCodeLayout> layouts = new ArrayList<>();
    for (int band = 0; band < counts.length; band++) {
      int bound = 3 * band;
      layouts.add(
          codes(width, i -> bound > 3 ? 8 - random.nextInt(2) : random.nextInt(bound + 1) / 2));
    }
    return CodeBands.of(layouts, counts);
  }

  /** Random rows added to random rows of a table, for tokens in any order. */
  private final class Rows {
    private final CodeBands bands;
    private final RowCodeBlock block = new RowCodeBlock();
    private final float[] scratch;

    Rows(CodeBands bands, int tableRows) {
      this.bands = bands;
      int offset = random.nextInt(9);
      block.set(
          bytes(offset + (int) bands.bytes() + RowCodeLayout.OVERREAD_BYTES),
          offset,
          bands,
          table(bands.width(), tableRows),
          floats(bands.width()),
          mixedTokens(bands.rows()),
          random.ints(bands.rows(), 0, tableRows).toArray());
      this.scratch = new float[RowCodeKernels.scratchFloats(bands.rows(), bands.width())];
    }

    void decode(Kernels kernels, float[] out) {
      kernels.rowCodes().decode(block, out);
    }

    void multiply(
        Kernels kernels, float[] cosines, float[] sines, float[] a, int aRows, float[] c) {
      kernels.rowCodes().products(block, cosines, sines, a, aRows, scratch, c);
    }

    void sum(Kernels kernels, float[] w, int wRows, float[] out) {
      kernels.rowCodes().weightedSums(block, w, wRows, scratch, out);
    }

    @Override
    public String toString() {
      return bands.layouts().stream()
          .map(layout -> Arrays.toString(layout.bits()))
          .collect(Collectors.joining(", ", Arrays.toString(bands.counts()) + " rows of ", ""));
    }
  }

  /** Memory without any readable bytes beyond what the caller guarantees. */
  @Test
  void rowsAndTablesOutsideTheHeap() {
    try (Arena arena = Arena.ofConfined()) {
      for (int width : new int[] {32, 64, 128}) {
        CodeBands bands = CodeBands.of(List.of(codes(width, i -> random.nextInt(4))), 5);
        long size = 3 + bands.bytes() + RowCodeLayout.OVERREAD_BYTES;
        MemorySegment rows = arena.allocate(size).copyFrom(bytes((int) size));
        NibbleRows heap = table(width, 7);
        MemorySegment data = arena.allocate(heap.data().byteSize()).copyFrom(heap.data());
        NibbleRows table = new NibbleRows(data, heap.stride(), width, heap.lows(), heap.steps());
        byte[] tokens = {4, 0, 2, 3, 1};
        int[] tableRows = {6, 6, 0, 3, 2};
        float[] expected = new float[5 * width];
        float[] found = new float[5 * width];
        RowCodeBlock block =
            new RowCodeBlock().set(rows, 3, bands, table, table.lows(), tokens, tableRows);
        scalar.rowCodes().decode(block, expected);
        tested.rowCodes().decode(block, found);
        assertThat(found).isEqualTo(expected);
      }
    }
  }

  /** Independent of other kernels: three codes packed by hand, and channels without codes. */
  @Test
  void aCodeStandsForTheMiddleOfItsStep() {
    int[] bits = new int[32];
    float[] halves = new float[32];
    bits[0] = 2;
    bits[7] = 8;
    bits[31] = 1;
    halves[0] = 0.5f;
    halves[7] = 0.25f;
    halves[31] = 3;
    RowCodeLayout layout = new RowCodeLayout(bits, halves);
    byte[] rows = new byte[layout.rowBytes() + RowCodeLayout.OVERREAD_BYTES];
    int word = 7 | 3 << 3 | 200 << 5 | 0 << 13; // scale 2, the highest code, 200, the lowest
    rows[0] = (byte) word;
    rows[1] = (byte) (word >> 8);
    float[] ones = new float[32];
    Arrays.fill(ones, 1);
    byte[] nibbles = new byte[16];
    for (int i = 0; i < nibbles.length; i++) {
      nibbles[i] = (byte) i;
    }
    NibbleRows table = new NibbleRows(MemorySegment.ofArray(nibbles), 16, 32, ones, ones);
    float[] out = new float[32];
    CodeBands bands = CodeBands.of(List.of(layout), 1);
    MemorySegment source = MemorySegment.ofArray(rows);
    RowCodeBlock block =
        new RowCodeBlock().set(source, 0, bands, table, ones, new byte[1], new int[1]);
    tested.rowCodes().decode(block, out);
    float scale = RowCodeLayout.scale(7);
    float[] expected = new float[32];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = i < 16 ? i + 1 : 1;
    }
    expected[0] = Math.fma(1.5f, scale, 1);
    expected[7] = Math.fma(145 * 0.25f, scale, 8);
    expected[31] = Math.fma(-3f, scale, 1);
    assertThat(out).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 15, 16, 17, 24, 33, 64, 80, 128, 576})
  void rowsOfHalves(int width) {
    int stride = width + 3;
    MemorySegment source = MemorySegment.ofArray(new byte[5 + 2 * 50 * stride]);
    for (int i = 0; i < 50 * stride; i++) {
      float value = (float) (random.nextGaussian() * (random.nextInt(8) == 0 ? 1e-6 : 1));
      source.set(HALF, 5 + 2L * i, Float.floatToFloat16(value));
    }
    int[] tableRows = random.ints(TOKENS, 0, 50).toArray();
    for (int count : new int[] {0, 1, 17, TOKENS}) {
      float[] expected = floats(TOKENS * width);
      float[] found = expected.clone();
      scalar.rowCodes().gather(source, 5, stride, tableRows, count, width, expected);
      tested.rowCodes().gather(source, 5, stride, tableRows, count, width, found);
      assertThat(found).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 8, 16, 24, 32, 40, 64, 96, 288, 520})
  void rowsRotateByTheirOwnAngles(int pairs) {
    float[] cosines = floats(TOKENS * pairs);
    float[] sines = floats(TOKENS * pairs);
    for (int count : new int[] {0, 1, 17, TOKENS}) {
      float[] expected = floats(TOKENS * 2 * pairs);
      float[] found = expected.clone();
      scalar.rowCodes().rotateEach(expected, count, pairs, cosines, sines);
      tested.rowCodes().rotateEach(found, count, pairs, cosines, sines);
      assertThat(found).isEqualTo(expected);
    }
  }

  /** Classes of any size. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 300})
  void rowsInTheOrderOfTheirClasses(int knownIds) {
    MemorySegment ids = MemorySegment.ofArray(random.ints(TOKENS, -2, 2 * knownIds + 1).toArray());
    int[] rowOfId = random.ints(knownIds).toArray();
    for (int i = 0; i < 100; i++) {
      long some = i % 2 == 0 ? -1 : random.nextLong() & random.nextLong();
      long[] bits = {random.nextLong() & some, random.nextLong() & some, random.nextLong()};
      int upper = Long.bitCount(bits[0]) + Long.bitCount(bits[1]);
      bits[2] &= upper < Long.SIZE ? (1L << upper) - 1 : -1;
      MemorySegment classes = MemorySegment.ofArray(bits);
      byte[] expected = new byte[TOKENS];
      byte[] found = new byte[TOKENS];
      int[] expectedRows = new int[TOKENS];
      int[] foundRows = new int[TOKENS];
      scalar.rowCodes().orderRows(classes, 0, ids, rowOfId, expected, expectedRows);
      tested.rowCodes().orderRows(classes, 0, ids, rowOfId, found, foundRows);
      assertThat(found).isEqualTo(expected);
      assertThat(foundRows).isEqualTo(expectedRows);
    }
  }

  private NibbleRows table(int width, int rows) {
    int stride = width / 2 + random.nextInt(2) * 24;
    return new NibbleRows(bytes(rows * stride), stride, width, floats(width), floats(width));
  }

  /** All tokens, in random order. */
  private byte[] mixedTokens(int count) {
    byte[] tokens = new byte[count];
    for (int i = 0; i < count; i++) {
      int other = random.nextInt(i + 1);
      tokens[i] = tokens[other];
      tokens[other] = (byte) i;
    }
    return tokens;
  }

  private MemorySegment bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  private float[] floats(int count) {
    return Gaussians.of(random, count);
  }
}
