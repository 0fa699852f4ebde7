package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.QuantizedOperand;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dot products of packed codes, and their operands, have the bits of the scalar kernels. */
public abstract class DotContract {
  private static final long SEED = 13;
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int HEADS = QuantizedOperand.MAX_HEADS;

  private final Random random = new Random(SEED);
  private final Kernels scalar = new ScalarKernels();
  private final Kernels tested;

  protected DotContract(Kernels tested) {
    this.tested = tested;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 6, 20, 64, 80, 96, 124, 128, 256, 576, 1024})
  void weights(int depth) {
    for (int heads = 1; heads <= HEADS; heads++) {
      assertWeightsAgree(randomWeights(heads * (depth + 3) + 2), heads, depth);
    }
  }

  @Test
  void extremeWeights() {
    for (float weight : new float[] {0, -0f, 1, -1, 1e-38f, -1e-38f, 1e-28f, 1e35f, -1e35f}) {
      float[] weights = new float[2 + 3 * 67];
      Arrays.fill(weights, weight);
      assertWeightsAgree(weights, 3, 64);
      weights[40] = -7;
      assertWeightsAgree(weights, 3, 64);
    }
  }

  /** Half a unit is between two integers. */
  @Test
  void tiesGoToTheEvenInteger() {
    float[] weights = new float[2 + 3 * 67];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = i % 13 == 2 ? 127 * 128 : (i % 7 - 3) * 64 + 0.5f * (i % 5 - 2);
    }
    assertWeightsAgree(weights, 3, 64);
  }

  private void assertWeightsAgree(float[] x, int heads, int depth) {
    MemorySegment halves = randomHalves(2 * depth);
    RowBlock rows = RowBlock.of(x, 2, depth + 3, heads, depth);
    for (boolean exact : new boolean[] {false, true}) {
      QuantizedOperand expected = new QuantizedOperand(HEADS, QuantizedOperand.MAX_DEPTH);
      QuantizedOperand found = new QuantizedOperand(HEADS, QuantizedOperand.MAX_DEPTH);
      scalar.dots().quantizeOperand(rows, exact, expected);
      tested.dots().quantizeOperand(rows, exact, found);
      assertAgree(found, expected);
      for (float unit : new float[] {1, 3f / 7}) {
        quantizeScaled(scalar, rows, halves, unit, exact, expected);
        quantizeScaled(tested, rows, halves, unit, exact, found);
        assertAgree(found, expected);
      }
    }
  }

  /** Scales from byte 3 on, followed by zeros. */
  private static void quantizeScaled(
      Kernels kernels,
      RowBlock x,
      MemorySegment halves,
      float unit,
      boolean exact,
      QuantizedOperand operand) {
    long zerosAt = 3 + 2L * x.width();
    kernels.dots().quantizeScaledOperand(x, halves, 3, zerosAt, unit, exact, operand);
  }

  private static void assertAgree(QuantizedOperand found, QuantizedOperand expected) {
    int used = expected.byteOffset(0, expected.quads());
    assertThat(Arrays.copyOf(found.bytes(), used))
        .as("seed %d", SEED)
        .isEqualTo(Arrays.copyOf(expected.bytes(), used));
    for (int head = 0; head < expected.heads(); head++) {
      assertThat(found.unit(head)).isEqualTo(expected.unit(head)).isFinite();
      assertThat(found.constant(head, 3)).isEqualTo(expected.constant(head, 3)).isFinite();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void sums(int bits) {
    for (int depth : new int[] {4, 20, 28, 64, 80, 96, 124, 128, 256, 576}) {
      for (int columns : new int[] {16, 32, 48, 80, 128, 512}) {
        WordLayout layout = new WordLayout(columns, depth, bits);
        MemorySegment codes = pack(layout, randomCodes(layout));
        for (int heads = 1; heads <= HEADS; heads++) {
          float[] weights = randomWeights(heads * depth);
          assertSumsAgree(layout, codes, weights, heads, 0, layout.tiles());
        }
      }
    }
  }

  @Test
  void sumsOfARangeOfTiles() {
    WordLayout layout = new WordLayout(208, 96, 3);
    MemorySegment codes = pack(layout, randomCodes(layout));
    float[] weights = randomWeights(3 * 96);
    for (int first = 0; first <= layout.tiles(); first++) {
      for (int end = first; end <= layout.tiles(); end++) {
        assertSumsAgree(layout, codes, weights, 3, first, end);
      }
    }
  }

  /** Every code and every byte of the operand at its largest. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void theLargestSums(int bits) {
    int depth = QuantizedOperand.MAX_DEPTH;
    WordLayout layout = new WordLayout(48, depth, bits);
    byte[] highest = new byte[48 * depth];
    Arrays.fill(highest, (byte) ((1 << bits) - 1));
    float[] weights = new float[7 * depth];
    for (float weight : new float[] {0.1f, -0.1f, 3e35f, 0}) {
      Arrays.fill(weights, weight);
      for (int heads : new int[] {4, 7}) {
        assertSumsAgree(layout, pack(layout, highest), weights, heads, 0, 3);
        assertSumsAgree(layout, pack(layout, new byte[48 * depth]), weights, heads, 0, 3);
      }
    }
  }

  private void assertSumsAgree(
      WordLayout layout, MemorySegment codes, float[] weights, int heads, int first, int end) {
    int depth = layout.rows();
    int stride = layout.columns() + 3;
    for (boolean exact : new boolean[] {false, true}) {
      QuantizedOperand operand = new QuantizedOperand(heads, depth);
      scalar.dots().quantizeOperand(RowBlock.of(weights, heads, depth), exact, operand);
      float[] expected = randomWeights(heads * stride + 1);
      float[] found = expected.clone();
      RowBlock sums = RowBlock.of(expected, 1, stride, heads, (end - first) * WordLayout.TILE);
      scalar.dots().addDots(layout, codes, 5, first, end, operand, sums);
      sums.set(found, 1, stride, heads, (end - first) * WordLayout.TILE);
      tested.dots().addDots(layout, codes, 5, first, end, operand, sums);
      assertThat(found)
          .as("seed %d, %s, %d heads, exact %b", SEED, layout, heads, exact)
          .isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 6, 8})
  void sumsOfMatricesWithScales(int bits) {
    for (int depth : new int[] {1, 6, 20, 64, 80, 128, 576}) {
      for (int columns : new int[] {16, 64, 80, 128}) {
        for (int group : new int[] {32, 64, 512}) {
          RowScaledCodes matrix = new RowScaledCodes(depth, columns, bits, group);
          assertSumsAgree(matrix, randomMatrix(matrix), 1 + random.nextInt(HEADS));
        }
      }
    }
    RowScaledCodes matrix = new RowScaledCodes(64, 128, bits, 128, ScaleSpan.THIRD);
    for (int heads = 1; heads <= HEADS; heads++) {
      assertSumsAgree(matrix, randomMatrix(matrix), heads);
    }
  }

  private void assertSumsAgree(RowScaledCodes matrix, MemorySegment bytes, int heads) {
    int stride = matrix.rows() + 2;
    int outStride = matrix.columns() + 3;
    for (boolean exact : new boolean[] {false, true}) {
      float[] x = randomWeights(heads * stride + 1);
      Arrays.fill(x, 1, 1 + matrix.rows(), random.nextBoolean() ? 0 : 1e-38f); // too small to count
      QuantizedOperand operand = new QuantizedOperand(heads, matrix.rows());
      float[] expected = randomWeights(heads * outStride + 1);
      float[] found = expected.clone();
      RowBlock rows = RowBlock.of(x, 1, stride, heads, matrix.rows());
      RowBlock sums = RowBlock.of(expected, 1, outStride, heads, matrix.columns());
      scalar.dots().addScaledDots(rows, exact, matrix, bytes, 5, operand, sums);
      sums.set(found, 1, outStride, heads, matrix.columns());
      tested.dots().addScaledDots(rows, exact, matrix, bytes, 5, operand, sums);
      assertThat(found)
          .as("seed %d, %s, %d heads, exact %b", SEED, matrix.header(), heads, exact)
          .isEqualTo(expected);
    }
  }

  /** From byte 5 on, up to the end: codes, scales and zeros. */
  private MemorySegment randomMatrix(RowScaledCodes matrix) {
    byte[] bytes = new byte[5 + matrix.bytes()];
    random.nextBytes(bytes);
    MemorySegment segment = MemorySegment.ofArray(bytes);
    for (long at = 5 + matrix.scalesOffset(0); at < bytes.length; at += 2) {
      segment.set(HALF, at, Float.floatToFloat16((float) random.nextGaussian()));
    }
    return segment;
  }

  /** From byte 5 on, up to the end. */
  private static MemorySegment pack(WordLayout layout, byte[] codes) {
    MemorySegment packed = MemorySegment.ofArray(new byte[5 + layout.bytes()]);
    layout.pack(new CodeScratch(), codes, packed, 5);
    return packed;
  }

  private byte[] randomCodes(WordLayout layout) {
    byte[] codes = new byte[layout.rows() * layout.columns()];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) random.nextInt(1 << layout.bits());
    }
    return codes;
  }

  private MemorySegment randomHalves(int count) {
    MemorySegment halves = MemorySegment.ofArray(new byte[3 + 2 * count]);
    for (int i = 0; i < count; i++) {
      short half = Float.floatToFloat16((float) random.nextGaussian());
      halves.set(HALF, 3 + 2L * i, half);
    }
    return halves;
  }

  private float[] randomWeights(int count) {
    return Gaussians.of(random, count);
  }
}
