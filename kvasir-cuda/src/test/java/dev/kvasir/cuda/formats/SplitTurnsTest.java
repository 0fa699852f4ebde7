package dev.kvasir.cuda.formats;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The division of splits among thread blocks. */
class SplitTurnsTest {
  private static final int FIELDS = 8;

  /** Returns turns with these numbers of packed pages. */
  private static int[] turns(int... pages) {
    int[] turns = new int[FIELDS * pages.length];
    for (int turn = 0; turn < pages.length; turn++) {
      turns[FIELDS * turn + 3] = pages[turn];
      turns[FIELDS * turn + 6] = 1 << 16;
    }
    return turns;
  }

  /** Returns the number of turns of each block. */
  private static int[] counts(int wantedBlocks, int... pages) {
    int[] first = new int[wantedBlocks + pages.length + 1];
    int blocks = SplitTurns.divide(turns(pages), pages.length, wantedBlocks, first);
    assertThat(first[0]).isZero();
    assertThat(first[blocks]).isEqualTo(pages.length);
    return IntStream.range(0, blocks).map(block -> first[block + 1] - first[block]).toArray();
  }

  /** Turns of equal length: 8 x 32K and 32 x 8K tokens with 8 KV heads, and fewer than blocks. */
  @ParameterizedTest
  @CsvSource({"512, 132, 4", "1024, 132, 8", "133, 132, 2", "131, 132, 1", "1, 132, 1"})
  void equalTurnsAreDividedEvenly(int count, int blocks, int most) {
    int[] pages = new int[count];
    Arrays.fill(pages, 64);
    int[] counts = counts(blocks, pages);
    assertThat(counts.length).isLessThanOrEqualTo(blocks);
    assertThat(Arrays.stream(counts).max().orElseThrow()).isEqualTo(most);
    assertThat(Arrays.stream(counts).min().orElseThrow()).isPositive();
  }

  /** A block has at most its share and one turn more. */
  @Test
  void unequalTurnsAreDividedByTheirPages() {
    int[] pages = new Random(1).ints(700, 1, 65).toArray();
    int all = Arrays.stream(pages).map(each -> each + 2).sum();
    int turn = 0;
    for (int count : counts(100, pages)) {
      int own = IntStream.range(turn, turn + count).map(i -> pages[i] + 2).sum();
      assertThat(own).isLessThanOrEqualTo(all / 100 + 67);
      turn += count;
    }
  }

  @Test
  void blocksHaveAtMostTwentyFourTurns() {
    int[] pages = new int[1000];
    assertThat(Arrays.stream(counts(3, pages)).max().orElseThrow()).isEqualTo(24);
    assertThat(Arrays.stream(counts(3, pages)).sum()).isEqualTo(1000);
  }
}
