package dev.kvasir.cuda.formats.commvq;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every index and every scale has bits of its own. */
class CodebookPageTest {
  private static final int TOKENS = CodebookPage.TOKENS;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 11, 21})
  void indicesAndScalesDoNotOverlap(int stages) {
    CodebookPage page = new CodebookPage(stages);
    BitSet taken = new BitSet();
    for (int token = 0; token < TOKENS; token++) {
      for (int set = 0; set < page.sets(); set++) {
        for (int bit = 0; bit < CodebookPage.INDEX_BITS; bit++) {
          take(taken, page.keyBit(token, set) + bit);
          take(taken, page.valueBit(token, set, bit));
        }
      }
      for (int bit = 0; bit < Short.SIZE; bit++) {
        take(taken, 8 * page.keyScaleAt(token) + bit);
        take(taken, 8 * page.valueScaleAt(token) + bit);
      }
    }
    for (int bit = 0; bit < Integer.SIZE; bit++) {
      take(taken, 8 * page.positionAt() + bit);
    }
    assertThat(taken.length()).isLessThanOrEqualTo(8 * page.bytes());
    int words = page.keyWords();
    assertThat(page.bytes()).isEqualTo((256 * words + 96 * stages + 132 + 63) / 64 * 64);
  }

  private static void take(BitSet taken, int bit) {
    assertThat(taken.get(bit)).as("bit %d has an owner", bit).isFalse();
    taken.set(bit);
  }

  @ParameterizedTest
  @CsvSource({"5, 1408", "11, 2496", "21, 4480"})
  void pageBytesMatchTheKernels(int stages, int bytes) {
    assertThat(new CodebookPage(stages).bytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 11, 21})
  void writtenIndicesAndScalesAreReadBack(int stages) {
    CodebookPage page = new CodebookPage(stages);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(page.bytes());
      Random random = new Random(3);
      for (int token = 0; token < TOKENS; token++) {
        page.putScales(bytes, token, Float.floatToFloat16(token), Float.floatToFloat16(-token));
        for (int set = 0; set < page.sets(); set++) {
          page.putKeyIndex(bytes, token, set, random.nextInt(64));
          page.putValueIndex(bytes, token, set, random.nextInt(64));
        }
      }
      page.putPosition(bytes, 123_456);
      Random again = new Random(3);
      for (int token = 0; token < TOKENS; token++) {
        assertThat(page.keyScale(bytes, token)).isEqualTo(token);
        assertThat(page.valueScale(bytes, token)).isEqualTo(-token);
        for (int set = 0; set < page.sets(); set++) {
          assertThat(page.keyIndex(bytes, token, set)).isEqualTo(again.nextInt(64));
          assertThat(page.valueIndex(bytes, token, set)).isEqualTo(again.nextInt(64));
        }
      }
      assertThat(page.position(bytes)).isEqualTo(123_456);
    }
  }

  @ParameterizedTest
  @CsvSource({"5, 64", "11, 128", "21, 256"})
  void bitsAndScalesDoNotOverlap(int stages, int bits) {
    CodebookPage page = CodebookPage.ofBits(stages, bits);
    BitSet taken = new BitSet();
    for (int token = 0; token < TOKENS; token++) {
      for (int bit = 0; bit < bits; bit++) {
        take(taken, page.setBit(token, bit));
      }
      for (int set = 0; set < page.sets(); set++) {
        for (int bit = 0; bit < CodebookPage.INDEX_BITS; bit++) {
          take(taken, page.keyBit(token, set) + bit);
        }
      }
      for (int bit = 0; bit < Short.SIZE; bit++) {
        take(taken, 8 * page.keyScaleAt(token) + bit);
        take(taken, 8 * page.valueScaleAt(token) + bit);
      }
    }
    assertThat(taken.nextSetBit(8 * page.positionAt())).isNegative();
    assertThat(page.positionAt() + 4).isLessThanOrEqualTo(page.bytes());
  }

  @ParameterizedTest
  @CsvSource({"5, 1", "5, 2", "5, 3"})
  void valueRowsDoNotOverlap(int stages, int valueHeads) {
    CodebookTableLayout tables = new CodebookTableLayout(64, stages, valueHeads);
    ValueTableLayout values = tables.values();
    Set<Integer> places = new HashSet<>();
    for (int bin = 0; bin < tables.bins() + 16; bin++) {
      for (int channel = 0; channel < 64; channel++) {
        places.add(values.at(bin, channel));
      }
    }
    assertThat(places).hasSize(values.headBytes() / 2).allMatch(at -> at < values.headBytes());
    Set<Integer> bins = new HashSet<>();
    for (int set = 0; set < tables.sets(); set++) {
      for (int row = 0; row < 64; row++) {
        bins.add(CodebookTableLayout.bin(set, row));
      }
    }
    assertThat(bins).hasSize(64 * tables.sets()).allMatch(bin -> bin < tables.bins());
  }

  @ParameterizedTest
  @CsvSource({
    "64, 5, 1, 1, 16",
    "64, 5, 2, 1, 24",
    "64, 5, 4, 2, 24",
    "64, 11, 2, 2, 24",
    "128, 21, 1, 2, 24",
    "128, 21, 2, 4, 24",
    "128, 11, 8, 8, 24",
    "128, 21, 8, 8, 24"
  })
  void setsAreDividedAmongWarps(int dim, int stages, int heads, int warps, int warpSets) {
    CodebookTableLayout tables = new CodebookTableLayout(dim, stages, heads);
    assertThat(tables.sharingWarps()).isEqualTo(warps);
    assertThat(tables.warpSets()).isEqualTo(warpSets);
    assertThat(tables.warpBytes()).isEqualTo(1024 * warpSets + 512);
  }

  @ParameterizedTest
  @CsvSource({"2, 64, 5, 4, 16, 128", "1, 256, 42, 2, 8, 128", "32, 1024, 88, 4, 4, 16"})
  void searchFitsSharedMemory(int count, int length, int stages, int beam, int tokens, int rows) {
    int available = 227 * 1024;
    SearchShape.Vectors vectors = new SearchShape.Vectors(8 * count, length, stages, beam);
    SearchShape shape = SearchShape.of(vectors, available, 100);
    assertThat(shape).isEqualTo(new SearchShape(tokens, rows));
    assertThat(shape.sharedBytes(vectors)).isLessThanOrEqualTo(available);
  }
}
