package dev.kvasir.cuda.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every number of a page has its own bits, and a page has no other bytes. */
class PageLayoutTest {
  private static final int TOKENS = Fp16Page.TOKENS;

  static Stream<Integer> headDims() {
    return Stream.of(64, 96, 128, 256);
  }

  @ParameterizedTest
  @MethodSource("headDims")
  void fp16NumbersFillAPage(int headDim) {
    Fp16Page page = new Fp16Page(headDim);
    BitSet places = new BitSet();
    for (int i = 0; i < TOKENS * headDim; i++) {
      places.set(page.keyOffset(i / headDim, i % headDim));
      places.set(page.valueOffset(i / headDim, i % headDim));
    }
    assertThat(places.cardinality()).isEqualTo(2 * TOKENS * headDim);
    assertThat(places.length()).isEqualTo(page.bytes() - 1);
    assertThat(page.bytes()).isEqualTo(TOKENS * headDim * 4);
  }

  @ParameterizedTest
  @CsvSource({"64, 1", "64, 15", "96, 16", "128, 17", "256, 63", "64, 64", "64, 0"})
  void clearingLeavesTheTokensBefore(int headDim, int first) {
    Fp16Page page = new Fp16Page(headDim);
    byte[] bytes = new byte[page.bytes() + 20];
    Arrays.fill(bytes, (byte) 1);
    page.clearFrom(first, bytes, 10);
    byte[] wanted = new byte[bytes.length];
    Arrays.fill(wanted, (byte) 1);
    for (int token = first; token < TOKENS; token++) {
      for (int channel = 0; channel < headDim; channel++) {
        for (int i = 0; i < Short.BYTES; i++) {
          wanted[10 + page.keyOffset(token, channel) + i] = 0;
          wanted[10 + page.valueOffset(token, channel) + i] = 0;
        }
      }
    }
    assertThat(bytes).isEqualTo(wanted);
  }

  static Stream<Arguments> packedPages() {
    return headDims()
        .flatMap(
            dim ->
                Stream.of(
                        new PackedPage(1, dim),
                        new PackedPage(2, dim),
                        new PackedPage(3, dim),
                        new PackedPage(4, dim),
                        new PackedPage(8, dim),
                        new PackedPage(4, 2, dim),
                        new PackedPage(1, 3, dim),
                        new PackedPage(3, 8, dim))
                    .map(layout -> Arguments.of(new PackedPageReader(layout))));
  }

  @ParameterizedTest
  @MethodSource("packedPages")
  void codesScalesAndZerosFillAPage(PackedPageReader page) {
    BitSet taken = new BitSet();
    for (int token = 0; token < TOKENS; token++) {
      for (int c = 0; c < page.headDim(); c++) {
        takeFree(taken, page.keyCodeBits(token, c), page.bits(0));
        takeFree(taken, page.valueCodeBits(token, c), page.bits(1));
        take(taken, 8 * page.keyScaleAt(token, c), 16);
        take(taken, 8 * page.keyZeroAt(token, c), 16);
        take(taken, 8 * page.valueScaleAt(token, c), 16);
        take(taken, 8 * page.valueZeroAt(token, c), 16);
      }
    }
    assertThat(taken.nextClearBit(0)).isEqualTo(8 * page.bytes());
    assertThat(taken.length()).isEqualTo(8 * page.bytes());
    assertThat(page.bytes() % 128).isZero();
  }

  /** Codes share no bits with each other. */
  private static void takeFree(BitSet taken, int[] bits, int count) {
    assertThat(bits).hasSize(count);
    for (int bit : bits) {
      assertThat(taken.get(bit)).isFalse();
      taken.set(bit);
    }
  }

  private static void take(BitSet taken, int first, int count) {
    taken.set(first, first + count);
  }

  @ParameterizedTest
  @MethodSource("packedPages")
  void groupsOfThirtyTwoShareAScaleAndOthersDoNot(PackedPageReader page) {
    Map<Integer, Set<Integer>> keys = new HashMap<>();
    Map<Integer, Set<Integer>> values = new HashMap<>();
    for (int token = 0; token < TOKENS; token++) {
      for (int c = 0; c < page.headDim(); c++) {
        keys.computeIfAbsent(page.keyScaleAt(token, c), at -> new HashSet<>())
            .add(token / 32 * page.headDim() + c);
        values
            .computeIfAbsent(page.valueScaleAt(token, c), at -> new HashSet<>())
            .add(token * page.headDim() / 32 + c / 32);
      }
    }
    assertThat(keys.values()).hasSize(2 * page.headDim()).allMatch(groups -> groups.size() == 1);
    assertThat(values.values()).allMatch(groups -> groups.size() == 1);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 64, 3072",
    "2, 96, 4992",
    "2, 128, 6144",
    "4, 128, 10240",
    "4, 256, 20480",
    "8, 128, 18432",
    "1, 64, 2048",
    "1, 96, 3456",
    "3, 128, 8192"
  })
  void pageBytesMatchTheFormula(int bits, int headDim, int bytes) {
    assertThat(new PackedPage(bits, headDim).bytes()).isEqualTo(bytes);
    int pairs = headDim == 96 ? 3 : headDim / 64;
    assertThat(headDim * (16 * bits + 12) + 256 * pairs).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"4, 2, 128, 8192", "2, 4, 128, 8192", "8, 1, 64, 5632", "1, 3, 96, 4992"})
  void keysAndValuesTakeTheirOwnBits(int keyBits, int valueBits, int headDim, int bytes) {
    PackedPage page = new PackedPage(keyBits, valueBits, headDim);
    assertThat(page.bytes()).isEqualTo(bytes);
    assertThat(page.keyBytes()).isEqualTo(8 * headDim * (keyBits + 1));
    assertThat(page.bytes() % PackedPage.ALIGNMENT).isZero();
  }
}
