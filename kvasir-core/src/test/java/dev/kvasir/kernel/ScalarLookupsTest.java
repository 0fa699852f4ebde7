package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.page.CodeRoom;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums of look-ups are the dot products that they stand for. */
class ScalarLookupsTest {
  private static final long SEED = 11;
  private static final double EXACT = 2e-4;

  private final Random random = new Random(SEED);
  private final LookupKernels kernels = new ScalarLookups();

  @ParameterizedTest
  @ValueSource(ints = {4, 20, 64, 80, 96, 128, 256, 576, 1024})
  void randomCodesAndWeights(int entries) {
    for (int bits : new int[] {1, 2, 3, 4, 5, 8}) {
      PlaneLayout layout = new PlaneLayout(48, entries, bits);
      for (int heads = 1; heads <= LookupTables.MOST_HEADS; heads += 3) {
        assertCloseToDotProducts(layout, randomCodes(layout), randomWeights(heads * entries));
      }
    }
  }

  /** Every byte at 255 and every sum at its largest. */
  @Test
  void theLargestSumsDoNotOverflow() {
    for (int bits = 1; bits <= 8; bits++) {
      int entries = LookupTables.MOST_ENTRIES;
      PlaneLayout layout = new PlaneLayout(32, entries, bits);
      byte[] codes = new byte[32 * entries];
      Arrays.fill(codes, (byte) ((1 << bits) - 1));
      float[] weights = new float[entries];
      Arrays.fill(weights, 0.1f);
      assertCloseToDotProducts(layout, codes, weights);
      Arrays.fill(weights, -0.1f);
      assertCloseToDotProducts(layout, codes, weights);
      Arrays.fill(codes, (byte) 0);
      assertCloseToDotProducts(layout, codes, weights);
    }
  }

  @Test
  void entriesNeverExceedTheLimit() {
    LookupTables tables = new LookupTables(1, 256);
    for (int round = 0; round < 500; round++) {
      float[] weights = randomWeights(256);
      Arrays.fill(weights, round % 64 * 4, 256, (float) Math.scalb(random.nextDouble(), -round));
      for (boolean exact : new boolean[] {false, true}) {
        kernels.buildTables(weights, 0, 256, 1, 256, exact, tables);
        for (int quad = 0; quad < 64 * tables.tables(); quad++) {
          for (int i = 0; i < LookupTables.SUMS; i++) {
            int pair = tables.pairAt(quad / 64, quad % 64) + i;
            byte entry = tables.bytes()[pair];
            assertThat((int) entry).isBetween(0, LookupTables.LIMIT);
            assertThat(tables.bytes()[pair + LookupTables.SUMS]).isEqualTo((byte) (2 * entry));
            int single = tables.singleAt(quad / 64, quad % 64) + i;
            assertThat(tables.bytes()[single]).isEqualTo(entry);
          }
        }
      }
    }
  }

  /** The step follows the heaviest quad, so only the bound in steps holds for all the others. */
  @Test
  void weightsOfVeryDifferentSizes() {
    PlaneLayout layout = new PlaneLayout(128, 128, 2);
    for (int round = 0; round < 50; round++) {
      float[] weights = randomWeights(128);
      for (int i = 0; i < 128; i++) {
        weights[i] *= (float) Math.exp(2 * random.nextGaussian());
      }
      byte[] codes = randomCodes(layout);
      for (boolean exact : new boolean[] {false, true}) {
        float[] found = lookup(layout, codes, weights, exact);
        double steps = tables(weights, 1, exact).step(0) * (exact ? 1 / 32.0 : 1);
        for (int lane = 0; lane < 128; lane++) {
          double expected = dot(layout, codes, weights, 0, lane);
          assertThat((double) found[lane])
              .as("seed %d", SEED)
              .isCloseTo(expected, within(3 * layout.quads() * steps));
        }
      }
    }
  }

  @Test
  void oneHugeWeightAmongTinyOnes() {
    PlaneLayout layout = new PlaneLayout(64, 128, 2);
    float[] weights = randomWeights(128);
    for (int i = 0; i < 128; i++) {
      weights[i] *= 1e-5f;
    }
    weights[77] = -3e4f;
    assertCloseToDotProducts(layout, randomCodes(layout), weights);
    weights[77] = 3e34f;
    assertCloseToDotProducts(layout, randomCodes(layout), weights);
  }

  @Test
  void weightsOfNothingGiveNothing() {
    PlaneLayout layout = new PlaneLayout(32, 64, 3);
    for (boolean exact : new boolean[] {false, true}) {
      assertThat(lookup(layout, randomCodes(layout), new float[64], exact)).containsOnly(0);
      float[] vanishing = new float[64];
      Arrays.fill(vanishing, Float.MIN_VALUE);
      for (float sum : lookup(layout, randomCodes(layout), vanishing, exact)) {
        assertThat(sum).isBetween(0f, 1e-35f);
      }
    }
  }

  /** Weights far below the step of a quad that outweighs them all count with the middle code. */
  @Test
  void theMidpointKeepsWhatRoundingWouldLose() {
    PlaneLayout layout = new PlaneLayout(128, 256, 2);
    float[] weights = new float[256];
    Arrays.fill(weights, 1e-3f);
    weights[0] = 1;
    byte[] codes = randomCodes(layout);
    float[] found = lookup(layout, codes, weights, false);
    double withMidpoint = 0;
    double without = 0;
    for (int lane = 0; lane < 128; lane++) {
      double exact = dot(layout, codes, weights, 0, lane);
      double lost = exact - codes[lane];
      withMidpoint += Math.pow(found[lane] - exact, 2);
      without += lost * lost;
    }
    assertThat(withMidpoint).isLessThan(without / 50);
  }

  /** What independent errors leave: far less than the bound that always holds. */
  @Test
  void errorsOfFastTablesAverageOut() {
    PlaneLayout layout = new PlaneLayout(128, 128, 2);
    double squares = 0;
    double steps = 0;
    for (int round = 0; round < 20; round++) {
      byte[] codes = randomCodes(layout);
      float[] weights = randomWeights(128);
      float[] found = lookup(layout, codes, weights, false);
      for (int lane = 0; lane < 128; lane++) {
        squares += Math.pow(found[lane] - dot(layout, codes, weights, 0, lane), 2);
        steps += Math.pow(tables(weights, 1, false).step(0), 2);
      }
    }
    // Each of 32 quads adds rounding errors of variance 1/12 in planes that count 1 and 2.
    assertThat(Math.sqrt(squares / steps)).isBetween(0.8 * 3.65, 1.1 * 3.65);
  }

  @Test
  void tilesOfARangeAreAddedToWhatIsThere() {
    PlaneLayout layout = new PlaneLayout(112, 64, 4);
    byte[] packed = new byte[layout.bytes() + 5];
    layout.pack(new CodeRoom(), randomCodes(layout), MemorySegment.ofArray(packed), 5);
    LookupTables tables = tables(randomWeights(2 * 64), 2, true);
    float[] all = new float[2 * 112];
    kernels.lookup(layout, MemorySegment.ofArray(packed), 5, 0, 4, tables, all, 0, 112);
    float[] some = new float[2 * 60 + 3];
    Arrays.fill(some, 1);
    kernels.lookup(layout, MemorySegment.ofArray(packed), 5, 2, 4, tables, some, 3, 60);
    for (int head = 0; head < 2; head++) {
      for (int lane = 0; lane < 60; lane++) {
        float expected = lane < 48 ? 1 + all[head * 112 + 64 + lane] : 1;
        assertThat(some[3 + head * 60 + lane]).isEqualTo(expected);
      }
    }
  }

  @Test
  void headsAreNoLargerThanWhatCanBeAddedUp() {
    assertThat(HeadShape.MOST_CHANNELS).isEqualTo(LookupTables.MOST_ENTRIES);
  }

  @Test
  void sizesThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> new LookupTables(9, 128)).hasMessageContaining("heads is 9");
    assertThatThrownBy(() -> new LookupTables(8, 1028)).hasMessageContaining("entries is 1028");
    LookupTables tables = new LookupTables(2, 64);
    assertThatThrownBy(() -> tables.begin(3, 64, false)).hasMessageContaining("heads is 3");
    assertThatThrownBy(() -> tables.begin(2, 128, false)).hasMessageContaining("entries is 128");
    assertThatThrownBy(() -> tables.begin(2, 30, false)).hasMessageContaining("entries is 30");
    tables.begin(2, 32, false);
    assertThatThrownBy(() -> tables.requireEntries(64)).hasMessageContaining("are for 32");
  }

  private void assertCloseToDotProducts(PlaneLayout layout, byte[] codes, float[] weights) {
    int levels = (1 << layout.bits()) - 1;
    int heads = weights.length / layout.entries();
    float[] exact = lookup(layout, codes, weights, true);
    float[] fast = lookup(layout, codes, weights, false);
    LookupTables tables = tables(weights, heads, false);
    for (int head = 0; head < heads; head++) {
      double magnitude = 0;
      for (int e = 0; e < layout.entries(); e++) {
        magnitude += Math.abs(weights[head * layout.entries() + e]);
      }
      double exactBound = EXACT * levels * magnitude;
      double fastBound = (double) levels * layout.quads() * tables.step(head);
      for (int lane = 0; lane < layout.lanes(); lane++) {
        double expected = dot(layout, codes, weights, head, lane);
        int at = head * layout.lanes() + lane;
        assertThat((double) exact[at]).as("seed %d", SEED).isCloseTo(expected, within(exactBound));
        assertThat((double) fast[at]).as("seed %d", SEED).isCloseTo(expected, within(fastBound));
      }
    }
  }

  private static double dot(PlaneLayout layout, byte[] codes, float[] weights, int head, int lane) {
    double sum = 0;
    for (int e = 0; e < layout.entries(); e++) {
      int code = codes[e * layout.lanes() + lane] & 0xFF;
      sum += (double) weights[head * layout.entries() + e] * code;
    }
    return sum;
  }

  private LookupTables tables(float[] weights, int heads, boolean exact) {
    int entries = weights.length / heads;
    LookupTables tables = new LookupTables(heads, entries);
    kernels.buildTables(weights, 0, entries, heads, entries, exact, tables);
    return tables;
  }

  private float[] lookup(PlaneLayout layout, byte[] codes, float[] weights, boolean exact) {
    int heads = weights.length / layout.entries();
    MemorySegment packed = MemorySegment.ofArray(new byte[layout.bytes()]);
    layout.pack(new CodeRoom(), codes, packed, 0);
    float[] out = new float[heads * layout.lanes()];
    LookupTables tables = tables(weights, heads, exact);
    kernels.lookup(layout, packed, 0, 0, layout.tiles(), tables, out, 0, layout.lanes());
    return out;
  }

  /** Of shape (entries, lanes). */
  private byte[] randomCodes(PlaneLayout layout) {
    byte[] codes = new byte[layout.entries() * layout.lanes()];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) random.nextInt(1 << layout.bits());
    }
    return codes;
  }

  private float[] randomWeights(int count) {
    float[] weights = new float[count];
    for (int i = 0; i < count; i++) {
      weights[i] = (float) random.nextGaussian();
    }
    return weights;
  }
}
