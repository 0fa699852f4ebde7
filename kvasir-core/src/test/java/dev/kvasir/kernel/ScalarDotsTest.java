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

/** Sums with quantized operands approximate the dot products. */
class ScalarDotsTest {
  private static final long SEED = 11;
  private static final double FLOATS = 1e-6;

  private final Random random = new Random(SEED);
  private final DotKernels kernels = new ScalarDots();

  @ParameterizedTest
  @ValueSource(ints = {4, 20, 64, 80, 96, 128, 256, 576, 1024})
  void randomCodesAndWeights(int depth) {
    for (int bits : new int[] {1, 2, 3, 4, 5, 8}) {
      WordLayout layout = new WordLayout(48, depth, bits);
      for (int heads = 1; heads <= QuantizedOperand.MAX_HEADS; heads += 3) {
        assertCloseToDotProducts(layout, randomCodes(layout), randomWeights(heads * depth));
      }
    }
  }

  /** Every code and every byte of the operand at its largest. */
  @Test
  void theLargestSumsDoNotOverflow() {
    for (int bits = 1; bits <= 8; bits++) {
      int depth = QuantizedOperand.MAX_DEPTH;
      WordLayout layout = new WordLayout(32, depth, bits);
      byte[] codes = new byte[32 * depth];
      Arrays.fill(codes, (byte) ((1 << bits) - 1));
      float[] weights = new float[depth];
      Arrays.fill(weights, 0.1f);
      assertCloseToDotProducts(layout, codes, weights);
      Arrays.fill(weights, -0.1f);
      assertCloseToDotProducts(layout, codes, weights);
      Arrays.fill(codes, (byte) 0);
      assertCloseToDotProducts(layout, codes, weights);
    }
  }

  @Test
  void bytesRepresentTheNearestInteger() {
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

  /** The unit follows the largest weight, so for the others only the bound in units holds. */
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
        for (int column = 0; column < 128; column++) {
          double expected = dot(layout, codes, weights, 0, column);
          assertThat((double) found[column])
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

  /** Weights far below the unit of a dominating one count with the middle code. */
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
    for (int column = 0; column < 128; column++) {
      double exact = dot(layout, codes, weights, 0, column);
      double lost = exact - codes[column];
      withMidpoint += Math.pow(found[column] - exact, 2);
      without += lost * lost;
    }
    assertThat(withMidpoint).isLessThan(without / 50);
  }

  /** Independent errors are far smaller than the bound that always holds. */
  @Test
  void errorsOfFastWeightsAverageOut() {
    WordLayout layout = new WordLayout(128, 128, 2);
    double squares = 0;
    double units = 0;
    for (int round = 0; round < 20; round++) {
      byte[] codes = randomCodes(layout);
      float[] weights = randomWeights(128);
      float[] found = dots(layout, codes, weights, false);
      for (int column = 0; column < 128; column++) {
        squares += Math.pow(found[column] - dot(layout, codes, weights, 0, column), 2);
        units += Math.pow(weights(weights, 1, false).unit(0), 2);
      }
    }
    // Each of 128 weights has a rounding error of variance 1/12, and its code, around the middle,
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
      for (int column = 0; column < 60; column++) {
        float expected = column < 48 ? 1 + all[head * 112 + 64 + column] : 1;
        assertThat(some[3 + head * 60 + column]).isEqualTo(expected);
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
    assertThatThrownBy(() -> new QuantizedOperand(8, 1028)).hasMessageContaining("depth is 1028");
    QuantizedOperand operand = new QuantizedOperand(2, 64);
    assertThatThrownBy(() -> operand.begin(3, 64, false)).hasMessageContaining("heads is 3");
    assertThatThrownBy(() -> operand.begin(2, 128, false)).hasMessageContaining("depth is 128");
    operand.begin(2, 30, false);
    assertThatThrownBy(() -> operand.requireDepth(64)).hasMessageContaining("the operand has 32");
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
        for (int column = 0; column < layout.columns(); column++) {
          double expected = dot(layout, codes, weights, head, column);
          assertThat((double) found[head * layout.columns() + column])
              .as("seed %d, %s, exact %b", SEED, layout, exact)
              .isCloseTo(expected, within(bound));
        }
      }
    }
  }

  /** Half a unit of every weight, times the largest distance of a code from the middle. */
  private static double bound(WordLayout layout, double unit) {
    return 0.5 * unit * layout.rows() * ((1 << layout.bits()) - 1) / 2.0;
  }

  private static double dot(
      WordLayout layout, byte[] codes, float[] weights, int head, int column) {
    double sum = 0;
    for (int e = 0; e < layout.rows(); e++) {
      int code = codes[e * layout.columns() + column] & 0xFF;
      sum += (double) weights[head * layout.rows() + e] * code;
    }
    return sum;
  }

  private QuantizedOperand weights(float[] x, int heads, boolean exact) {
    int depth = x.length / heads;
    QuantizedOperand operand = new QuantizedOperand(heads, depth);
    kernels.quantizeOperand(RowBlock.of(x, heads, depth), exact, operand);
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

  /** Of shape (rows, columns). */
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
