package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums over rounded weights are the dot products that they stand for. */
class ScalarDotsTest {
  private static final long SEED = 11;
  private static final double FLOATS = 1e-6;

  private final Random random = new Random(SEED);
  private final DotKernels kernels = new ScalarDots();

  @ParameterizedTest
  @ValueSource(ints = {4, 20, 64, 80, 96, 128, 256, 576, 1024})
  void randomCodesAndWeights(int entries) {
    for (int bits : new int[] {1, 2, 3, 4, 5, 8}) {
      WordLayout layout = new WordLayout(48, entries, bits);
      for (int heads = 1; heads <= QuantizedOperand.MAX_HEADS; heads += 3) {
        assertCloseToDotProducts(layout, randomCodes(layout), randomWeights(heads * entries));
      }
    }
  }

  /** Every code and every digit at its largest. */
  @Test
  void theLargestSumsDoNotOverflow() {
    for (int bits = 1; bits <= 8; bits++) {
      int entries = QuantizedOperand.MAX_DEPTH;
      WordLayout layout = new WordLayout(32, entries, bits);
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
  void digitsStandForTheNearestInteger() {
    QuantizedOperand operand = new QuantizedOperand(1, 256);
    for (int round = 0; round < 200; round++) {
      float[] x = randomWeights(256);
      Arrays.fill(x, round, 256, (float) Math.scalb(random.nextDouble(), -round));
      for (boolean exact : new boolean[] {false, true}) {
        kernels.quantizeOperand(RowBlock.of(x, 1, 256), exact, operand);
        for (int e = 0; e < 256; e++) {
          int high = operand.bytes()[operand.byteOffset(0, e / 4) + e % 4];
          int low = exact ? operand.bytes()[operand.byteOffset(1, e / 4) + e % 4] : 0;
          assertThat(high).isBetween(-127, 127);
          assertThat(low).isBetween(-64, 63);
          double value = operand.unit(0) * (exact ? 128.0 * high + low : high);
          assertThat(value).isCloseTo(x[e], within(0.503 * operand.unit(0)));
        }
      }
    }
  }

  /** The unit follows the largest weight, so only the bound in units holds for all the others. */
  @Test
  void weightsOfVeryDifferentSizes() {
    WordLayout layout = new WordLayout(128, 128, 2);
    for (int round = 0; round < 50; round++) {
      float[] weights = randomWeights(128);
      for (int i = 0; i < 128; i++) {
        weights[i] *= (float) Math.exp(2 * random.nextGaussian());
      }
      byte[] codes = randomCodes(layout);
      for (boolean exact : new boolean[] {false, true}) {
        float[] found = dots(layout, codes, weights, exact);
        double unit = weights(weights, 1, exact).unit(0);
        for (int lane = 0; lane < 128; lane++) {
          double expected = dot(layout, codes, weights, 0, lane);
          assertThat((double) found[lane])
              .as("seed %d", SEED)
              .isCloseTo(expected, within(bound(layout, unit) + FLOATS * Math.abs(expected)));
        }
      }
    }
  }

  @Test
  void oneHugeWeightAmongTinyOnes() {
    WordLayout layout = new WordLayout(64, 128, 2);
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
    WordLayout layout = new WordLayout(32, 64, 3);
    for (boolean exact : new boolean[] {false, true}) {
      assertThat(dots(layout, randomCodes(layout), new float[64], exact)).containsOnly(0);
      float[] vanishing = new float[64];
      Arrays.fill(vanishing, Float.MIN_VALUE);
      for (float sum : dots(layout, randomCodes(layout), vanishing, exact)) {
        assertThat(sum).isBetween(0f, 1e-35f);
      }
    }
  }

  /** Weights far below the unit of one that outweighs them all count with the middle code. */
  @Test
  void theMidpointKeepsWhatRoundingWouldLose() {
    WordLayout layout = new WordLayout(128, 256, 2);
    float[] weights = new float[256];
    Arrays.fill(weights, 1e-3f);
    weights[0] = 1;
    byte[] codes = randomCodes(layout);
    float[] found = dots(layout, codes, weights, false);
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
  void errorsOfFastWeightsAverageOut() {
    WordLayout layout = new WordLayout(128, 128, 2);
    double squares = 0;
    double units = 0;
    for (int round = 0; round < 20; round++) {
      byte[] codes = randomCodes(layout);
      float[] weights = randomWeights(128);
      float[] found = dots(layout, codes, weights, false);
      for (int lane = 0; lane < 128; lane++) {
        squares += Math.pow(found[lane] - dot(layout, codes, weights, 0, lane), 2);
        units += Math.pow(weights(weights, 1, false).unit(0), 2);
      }
    }
    // Each of 128 entries has a rounding error of variance 1/12, and its code, around the middle,
    // one of 5/4.
    double expected = Math.sqrt(128 / 12.0 * 5 / 4);
    assertThat(Math.sqrt(squares / units)).isBetween(0.8 * expected, 1.2 * expected);
  }

  @Test
  void tilesOfARangeAreAddedToWhatIsThere() {
    WordLayout layout = new WordLayout(112, 64, 4);
    byte[] packed = new byte[layout.bytes() + 5];
    layout.pack(new CodeScratch(), randomCodes(layout), MemorySegment.ofArray(packed), 5);
    QuantizedOperand operand = weights(randomWeights(2 * 64), 2, true);
    float[] all = new float[2 * 112];
    MemorySegment codes = MemorySegment.ofArray(packed);
    kernels.addDots(layout, codes, 5, 0, 7, operand, RowBlock.of(all, 2, 112));
    float[] some = new float[2 * 60 + 3];
    Arrays.fill(some, 1);
    kernels.addDots(layout, codes, 5, 4, 7, operand, RowBlock.of(some, 3, 60, 2, 48));
    for (int head = 0; head < 2; head++) {
      for (int lane = 0; lane < 60; lane++) {
        float expected = lane < 48 ? 1 + all[head * 112 + 64 + lane] : 1;
        assertThat(some[3 + head * 60 + lane]).isEqualTo(expected);
      }
    }
  }

  @Test
  void headsAreNoLargerThanWhatCanBeAddedUp() {
    assertThat(HeadShape.MAX_CHANNELS).isEqualTo(QuantizedOperand.MAX_DEPTH);
  }

  @Test
  void sizesThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> new QuantizedOperand(9, 128)).hasMessageContaining("heads is 9");
    assertThatThrownBy(() -> new QuantizedOperand(8, 1028)).hasMessageContaining("entries is 1028");
    QuantizedOperand operand = new QuantizedOperand(2, 64);
    assertThatThrownBy(() -> operand.begin(3, 64, false)).hasMessageContaining("heads is 3");
    assertThatThrownBy(() -> operand.begin(2, 128, false)).hasMessageContaining("entries is 128");
    operand.begin(2, 30, false);
    assertThatThrownBy(() -> operand.requireDepth(64)).hasMessageContaining("are for 32");
  }

  private void assertCloseToDotProducts(WordLayout layout, byte[] codes, float[] weights) {
    int heads = weights.length / layout.rows();
    for (boolean exact : new boolean[] {false, true}) {
      float[] found = dots(layout, codes, weights, exact);
      QuantizedOperand operand = weights(weights, heads, exact);
      for (int head = 0; head < heads; head++) {
        double magnitude = 0;
        for (int e = 0; e < layout.rows(); e++) {
          magnitude += Math.abs(weights[head * layout.rows() + e]);
        }
        int levels = (1 << layout.bits()) - 1;
        double bound = bound(layout, operand.unit(head)) + FLOATS * levels * magnitude;
        for (int lane = 0; lane < layout.columns(); lane++) {
          double expected = dot(layout, codes, weights, head, lane);
          assertThat((double) found[head * layout.columns() + lane])
              .as("seed %d, %s, exact %b", SEED, layout, exact)
              .isCloseTo(expected, within(bound));
        }
      }
    }
  }

  /** Half a unit of every entry, times how far a code can be from the middle. */
  private static double bound(WordLayout layout, double unit) {
    return 0.5 * unit * layout.rows() * ((1 << layout.bits()) - 1) / 2.0;
  }

  private static double dot(WordLayout layout, byte[] codes, float[] weights, int head, int lane) {
    double sum = 0;
    for (int e = 0; e < layout.rows(); e++) {
      int code = codes[e * layout.columns() + lane] & 0xFF;
      sum += (double) weights[head * layout.rows() + e] * code;
    }
    return sum;
  }

  private QuantizedOperand weights(float[] x, int heads, boolean exact) {
    int entries = x.length / heads;
    QuantizedOperand operand = new QuantizedOperand(heads, entries);
    kernels.quantizeOperand(RowBlock.of(x, heads, entries), exact, operand);
    return operand;
  }

  private float[] dots(WordLayout layout, byte[] codes, float[] x, boolean exact) {
    int heads = x.length / layout.rows();
    MemorySegment packed = MemorySegment.ofArray(new byte[layout.bytes()]);
    layout.pack(new CodeScratch(), codes, packed, 0);
    float[] out = new float[heads * layout.columns()];
    QuantizedOperand operand = weights(x, heads, exact);
    RowBlock outRows = RowBlock.of(out, heads, layout.columns());
    kernels.addDots(layout, packed, 0, 0, layout.tiles(), operand, outRows);
    return out;
  }

  /** Of shape (entries, lanes). */
  private byte[] randomCodes(WordLayout layout) {
    byte[] codes = new byte[layout.rows() * layout.columns()];
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
