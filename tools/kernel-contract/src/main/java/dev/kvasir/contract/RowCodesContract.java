package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodes;
import dev.kvasir.kernel.ScalarKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of codes of many widths decode to the bits that the scalar kernels give. */
public abstract class RowCodesContract {
  private static final long SEED = 19;
  private static final int TOKENS = 128;
  private static final float UNTOUCHED = 7;
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Random random = new Random(SEED);
  private final Kernels scalar = new ScalarKernels();
  private final Kernels tested;

  protected RowCodesContract(Kernels tested) {
    this.tested = tested;
  }

  static IntStream widths() {
    return IntStream.of(16, 32, 48, 64, 80, 128, 192, 576, 1040);
  }

  @ParameterizedTest
  @MethodSource("widths")
  void codesOfAllWidths(int width) {
    for (int most = 0; most <= RowCodes.MOST_BITS; most++) {
      int bound = most + 1;
      assertDecodedAlike(codes(width, i -> random.nextInt(bound)));
      assertDecodedAlike(codes(width, i -> random.nextInt(4) == 0 ? random.nextInt(bound) : 0));
    }
  }

  @ParameterizedTest
  @MethodSource("widths")
  void codesOfOneWidth(int width) {
    for (int k = 0; k <= RowCodes.MOST_BITS; k++) {
      int bits = k;
      assertDecodedAlike(codes(width, i -> bits));
    }
  }

  /** As channels lie that are ordered by what they carry. */
  @ParameterizedTest
  @MethodSource("widths")
  void codesOfTheFirstChannelsAlone(int width) {
    for (int end : new int[] {1, 7, 8, 9, width / 2, width - 8, width - 1}) {
      assertDecodedAlike(codes(width, i -> i < end ? 1 + random.nextInt(8) : 0));
      assertDecodedAlike(codes(width, i -> i >= end ? 1 + random.nextInt(8) : 0));
    }
  }

  private RowCodes codes(int width, IntUnaryOperator bits) {
    return new RowCodes(IntStream.range(0, width).map(bits).toArray(), floats(width));
  }

  /** Rows at every offset from a word's edge, of one token, of some and of all. */
  private void assertDecodedAlike(RowCodes codes) {
    for (int tableRows : new int[] {1, 300}) {
      NibbleRows table = table(codes.width(), tableRows);
      int[] picked = random.ints(TOKENS, 0, tableRows).toArray();
      byte[] tokens = mixedTokens();
      int offset = random.nextInt(9);
      for (int count : new int[] {0, 1, 3, 48, 64, TOKENS}) {
        int from = random.nextInt(TOKENS - count + 1);
        MemorySegment rows = bytes(offset + count * codes.rowBytes() + RowCodes.BYTES_BEHIND);
        float[] expected = new float[TOKENS * codes.width()];
        Arrays.fill(expected, UNTOUCHED);
        float[] found = expected.clone();
        scalar.rowCodes().decode(rows, offset, codes, tokens, from, count, table, picked, expected);
        tested.rowCodes().decode(rows, offset, codes, tokens, from, count, table, picked, found);
        assertThat(found)
            .as("seed %d, %d rows of %s", SEED, count, Arrays.toString(codes.bits()))
            .isEqualTo(expected);
      }
    }
  }

  /** Where nothing can be read behind what a caller promises. */
  @Test
  void rowsAndTablesOutsideTheHeap() {
    try (Arena arena = Arena.ofConfined()) {
      for (int width : new int[] {16, 48, 64, 128}) {
        RowCodes codes = codes(width, i -> random.nextInt(4));
        long size = 3 + 5L * codes.rowBytes() + RowCodes.BYTES_BEHIND;
        MemorySegment rows = arena.allocate(size).copyFrom(bytes((int) size));
        NibbleRows heap = table(width, 7);
        MemorySegment data = arena.allocate(heap.data().byteSize()).copyFrom(heap.data());
        NibbleRows table = new NibbleRows(data, width, heap.lows(), heap.steps());
        byte[] tokens = {4, 0, 2, 3, 1};
        int[] picked = {6, 6, 0, 3, 2};
        float[] expected = new float[5 * width];
        float[] found = new float[5 * width];
        scalar.rowCodes().decode(rows, 3, codes, tokens, 0, 5, table, picked, expected);
        tested.rowCodes().decode(rows, 3, codes, tokens, 0, 5, table, picked, found);
        assertThat(found).isEqualTo(expected);
      }
    }
  }

  /** Without another kernel: three codes laid by hand, and channels that have none. */
  @Test
  void aCodeStandsForTheMiddleOfItsStep() {
    int[] bits = new int[16];
    float[] halves = new float[16];
    bits[0] = 2;
    bits[7] = 8;
    bits[15] = 1;
    halves[0] = 0.5f;
    halves[7] = 0.25f;
    halves[15] = 3;
    RowCodes codes = new RowCodes(bits, halves);
    byte[] rows = new byte[codes.rowBytes() + RowCodes.BYTES_BEHIND];
    int word = 7 | 3 << 3 | 200 << 5 | 0 << 13; // scale 2, the highest code, 200, the lowest
    rows[0] = (byte) word;
    rows[1] = (byte) (word >> 8);
    float[] ones = new float[16];
    Arrays.fill(ones, 1);
    NibbleRows table =
        new NibbleRows(MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}), 16, ones, ones);
    float[] out = new float[16];
    tested
        .rowCodes()
        .decode(MemorySegment.ofArray(rows), 0, codes, new byte[1], 0, 1, table, new int[1], out);
    float scale = RowCodes.scale(7);
    float[] expected = {2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1};
    expected[0] = Math.fma(1.5f, scale, 2);
    expected[7] = Math.fma(145 * 0.25f, scale, 9);
    expected[15] = Math.fma(-3f, scale, 1);
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
    int[] picked = random.ints(TOKENS, 0, 50).toArray();
    for (int count : new int[] {0, 1, 17, TOKENS}) {
      float[] expected = floats(TOKENS * width);
      float[] found = expected.clone();
      scalar.rowCodes().gather(source, 5, stride, picked, count, width, expected);
      tested.rowCodes().gather(source, 5, stride, picked, count, width, found);
      assertThat(found).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 8, 16, 24, 32, 40, 64, 96, 288, 520})
  void rowsTurnByAnglesOfTheirOwn(int pairs) {
    float[] cosines = floats(TOKENS * pairs);
    float[] sines = floats(TOKENS * pairs);
    for (int count : new int[] {0, 1, 17, TOKENS}) {
      float[] expected = floats(TOKENS * 2 * pairs);
      float[] found = expected.clone();
      scalar.rowCodes().turnEach(expected, count, pairs, cosines, sines);
      tested.rowCodes().turnEach(found, count, pairs, cosines, sines);
      assertThat(found).isEqualTo(expected);
    }
  }

  private NibbleRows table(int width, int rows) {
    return new NibbleRows(bytes(rows * width / 2), width, floats(width), floats(width));
  }

  /** All of them, in any order. */
  private byte[] mixedTokens() {
    byte[] tokens = new byte[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
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
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) random.nextGaussian();
    }
    return floats;
  }
}
