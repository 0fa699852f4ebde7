package dev.kvasir.cuda.formats.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.TableKind;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The layout of blocks, and the order of channels in them. */
class BlockLayoutTest {
  @ParameterizedTest
  @CsvSource({
    "'mead:1.5,first=coded', OFF, 64",
    "mead:2, TOKENS, 128",
    "'mead:3,first=coded', CENTROIDS, 128"
  })
  void partsDoNotOverlap(String spec, TableKind kind, int headDim) {
    BlockLayout layout = new MeadBlocks(spec, kind, 3, 2, headDim, 0).model.layout();
    BitSet[] used = {new BitSet(), new BitSet()};
    int largest = 0;
    for (BlockLayout.Part part : layout.parts()) {
      int end = part.at() + part.layout().bytes();
      assertThat(used[part.page()].get(part.at(), end).isEmpty()).isTrue();
      used[part.page()].set(part.at(), end);
      assertThat(part.at() % 16).isZero();
      largest = Math.max(largest, part.layout().bytes());
    }
    int all = used[0].cardinality() + used[1].cardinality();
    assertThat(layout.pageBytes()).isBetween(all / 2, all / 2 + largest + 64);
    assertThat(layout.pageBytes()).isGreaterThanOrEqualTo(used[1].length());
  }

  @Test
  void pairsShareAStep() {
    Random random = new Random(3);
    int[][] bits = new int[MeadParameters.TIERS][64];
    for (int[] ofTier : bits) {
      for (int i = 0; i < ofTier.length; i++) {
        ofTier[i] = random.nextInt(9);
      }
    }
    float[] errors = new float[32];
    for (int pair = 0; pair < errors.length; pair++) {
      errors[pair] = pair * 5 % 32;
    }
    StepWidths order = StepWidths.of(bits, true, 64, errors, 9);
    assertThat(order.rotatedSteps()).isEqualTo(2);
    for (int pair = 0; pair < 32; pair++) {
      assertThat(order.slots()[32 + pair]).isEqualTo(order.slots()[pair] + 8);
      assertThat(order.slots()[pair] % 16).isLessThan(8);
      assertThat(order.slots()[pair] / 16 < 2).isEqualTo(errors[pair] >= 16);
      for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
        int width = order.widths()[tier][order.slots()[pair] / 16];
        assertThat(width).isGreaterThanOrEqualTo(bits[tier][pair]);
        assertThat(width).isGreaterThanOrEqualTo(bits[tier][32 + pair]);
      }
      assertThat(order.wider(order.slots()[pair] / 16)).isNotNegative();
    }
  }

  @Test
  void stepsOfValuesHaveSimilarWidths() {
    int[][] bits = new int[MeadParameters.TIERS][64];
    for (int[] ofTier : bits) {
      for (int i = 0; i < ofTier.length; i++) {
        ofTier[i] = i % 4; // 16 channels of each width
      }
    }
    StepWidths order = StepWidths.of(bits, false, 64, new float[64], 0);
    assertThat(order.widths())
        .isDeepEqualTo(new int[][] {{3, 2, 1, 0}, {3, 2, 1, 0}, {3, 2, 1, 0}});
    assertThat(PartLayout.ofValues(order).codeBits()).isEqualTo(16L * 6 * 128);
  }

  @ParameterizedTest
  @CsvSource({"64, 22208, 36672", "128, 42176, 138688"})
  void recordsHaveTheSizesOfTheKernels(int headDim, int headBytes, int codeBytes) {
    assertThat(new HeadRecord(headDim).bytes()).isEqualTo(headBytes);
    assertThat(new CodeRecord(headDim).bytes()).isEqualTo(codeBytes);
  }
}
