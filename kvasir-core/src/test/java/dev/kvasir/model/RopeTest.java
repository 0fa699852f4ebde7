package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.RopeRotation;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.ScalarKernels;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RopeTest {
  private static final long SEED = 31;
  private static final double BASE = 10_000;

  private final Random random = new Random(SEED);

  @Test
  void unscaledFrequenciesFallGeometrically() {
    float[] found = new RopeFrequencies.Unscaled().of(BASE, 8);
    assertThat(found).hasSize(4);
    double[] expected = {1, 0.1, 0.01, 0.001};
    for (int i = 0; i < 4; i++) {
      assertThat((double) found[i]).isCloseTo(expected[i], within(1e-7));
    }
  }

  /** A page's position plus an index on the page is the token's position. */
  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void pageRotationPlusIndexRotationIsPositionRotation(RopeLayout layout) {
    int headDim = 12;
    int stride = headDim + 3;
    Rope rope = new Rope(layout, new RopeFrequencies.Unscaled().of(BASE, 8));
    float[] x = gaussian(5 * stride);
    float[] rotated = x.clone();
    rope.rotate(rotated, 1, stride, 5, 384);
    rope.rotateConsecutive(rotated, 1, stride, 5);
    for (int i = 0; i < 5; i++) {
      float[] expected = rotate(rope, x, 1 + i * stride, 1, headDim, 384 + i);
      for (int d = 1 + i * stride; d < (i + 1) * stride; d++) {
        assertThat(rotated[d]).isCloseTo(expected[d], within(1e-4f));
      }
    }
    rope.rotate(rotated, 1, stride, 5, -384);
    rope.unrotateConsecutive(rotated, 1, stride, 5);
    for (int d = 0; d < x.length; d++) {
      assertThat(rotated[d]).isCloseTo(x[d], within(1e-6f));
    }
  }

  /** Rows in table order are rotated like vectors, and non-rotary channels are unchanged. */
  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void aTableRotatesAsTheRopeDoes(RopeLayout layout) {
    int headDim = 40;
    Rope rope = new Rope(layout, new RopeFrequencies.Unscaled().of(BASE, 24));
    RopeTable table = rope.table(headDim);
    assertThat(table.width()).isEqualTo(64);
    float[] x = gaussian(2 * headDim);
    float[] rows = new float[2 * table.width()];
    table.toPairOrder(x, 0, 2, rows, 0);
    table.rotate(new ScalarKernels(), rows, 0, 2, 77);
    float[] rotated = rotate(rope, x, 0, 2, headDim, 77);
    float[] expected = new float[rows.length];
    table.toPairOrder(rotated, 0, 2, expected, 0);
    for (int i = 0; i < rows.length; i++) {
      assertThat(rows[i]).isCloseTo(expected[i], within(1e-5f));
    }
    table.unrotate(new ScalarKernels(), rows, 0, 2, 77);
    table.toPairOrder(x, 0, 2, expected, 0);
    for (int i = 0; i < rows.length; i++) {
      assertThat(rows[i]).isCloseTo(expected[i], within(1e-5f));
    }
  }

  /** A rotation is reused, and its previous contents do not matter. */
  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void rowsRotateToAPositionAsTheRopeDoes(RopeLayout layout) {
    int headDim = 40;
    Rope rope = new Rope(layout, new RopeFrequencies.Unscaled().of(BASE, 24));
    RopeTable table = rope.table(headDim);
    RopeRotation rotation = new RopeRotation(table);
    for (int position : new int[] {512, 128, -384}) {
      float[] x = gaussian(2 * headDim);
      float[] rows = new float[2 * table.width()];
      table.toPairOrder(x, 0, 2, rows, 0);
      rotation.rotate(new ScalarKernels(), rows, 2, rope, position);
      float[] rotated = rotate(rope, x, 0, 2, headDim, position);
      float[] expected = new float[rows.length];
      table.toPairOrder(rotated, 0, 2, expected, 0);
      for (int i = 0; i < rows.length; i++) {
        assertThat(rows[i]).isCloseTo(expected[i], within(1e-5f));
      }
    }
  }

  /** More positions than are cached. */
  @Test
  void cacheEvictionDoesNotChangeARotation() {
    int headDim = 8;
    Rope rope = new Rope(RopeLayout.HALVES, new RopeFrequencies.Unscaled().of(BASE, headDim));
    for (int round = 0; round < 2; round++) {
      for (int position = -128 * 3000; position <= 128 * 3000; position += 128) {
        float[] x = gaussian(headDim);
        float[] expected = rotate(rope, x, 0, 1, headDim, position);
        rope.rotate(x, 0, headDim, 1, position);
        assertThat(x).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void everyPairRotatesByItsOwnAngle(RopeLayout layout) {
    int headDim = 12;
    int heads = 3;
    Rope rope = new Rope(layout, new RopeFrequencies.Unscaled().of(BASE, headDim));
    for (int position : new int[] {0, 1, 17, 4000}) {
      float[] x = gaussian(heads * headDim + 2);
      float[] rotated = rotate(rope, x, 1, heads, headDim, position);
      for (int head = 0; head < heads; head++) {
        for (int pair = 0; pair < headDim / 2; pair++) {
          int a = 1 + head * headDim + (layout == RopeLayout.HALVES ? pair : 2 * pair);
          int b = layout == RopeLayout.HALVES ? a + headDim / 2 : a + 1;
          double angle = position * Math.pow(BASE, -2.0 * pair / headDim);
          double cos = Math.cos(angle);
          double sin = Math.sin(angle);
          // The angle is a float: at position 4000 its last bit is 2.4e-4.
          double bound = 1e-6 + 1e-6 * position;
          assertThat((double) rotated[a])
              .as("seed %d, position %d, pair %d", SEED, position, pair)
              .isCloseTo(x[a] * cos - x[b] * sin, within(bound));
          assertThat((double) rotated[b]).isCloseTo(x[a] * sin + x[b] * cos, within(bound));
        }
      }
      assertThat(rotated[0]).isEqualTo(x[0]);
      assertThat(rotated[x.length - 1]).isEqualTo(x[x.length - 1]);
    }
  }

  /** The purpose of RoPE: a score depends on the distance only. */
  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void aScoreDependsOnlyOnTheDistance(RopeLayout layout) {
    Rope rope = new Rope(layout, new RopeFrequencies.Unscaled().of(BASE, 16));
    float[] query = gaussian(16);
    float[] key = gaussian(16);
    double near = dot(rotate(rope, query, 0, 1, 16, 9), rotate(rope, key, 0, 1, 16, 4));
    double far = dot(rotate(rope, query, 0, 1, 16, 105), rotate(rope, key, 0, 1, 16, 100));
    assertThat(far).isCloseTo(near, within(1e-3));
  }

  @ParameterizedTest
  @EnumSource(RopeLayout.class)
  void nonRotaryChannelsAreUnchanged(RopeLayout layout) {
    int headDim = 16;
    int turning = 6;
    Rope rope = new Rope(layout, new RopeFrequencies.Unscaled().of(BASE, turning));
    assertThat(rope.pairs()).isEqualTo(3);
    float[] x = gaussian(2 * headDim);
    float[] rotated = rotate(rope, x, 0, 2, headDim, 5);
    for (int i = 0; i < x.length; i++) {
      if (i % headDim < turning) {
        assertThat(rotated[i]).isNotEqualTo(x[i]);
      } else {
        assertThat(rotated[i]).isEqualTo(x[i]);
      }
    }
  }

  @Test
  void linearScalingDividesEveryAngle() {
    float[] plain = new RopeFrequencies.Unscaled().of(BASE, 64);
    float[] scaled = new RopeFrequencies.Linear(4).of(BASE, 64);
    for (int i = 0; i < 32; i++) {
      assertThat(scaled[i]).isEqualTo(plain[i] / 4);
    }
  }

  @Test
  void divisorsApplyPerPair() {
    float[] plain = new RopeFrequencies.Unscaled().of(BASE, 6);
    float[] divided = new RopeFrequencies.PerPairFactors(new float[] {1, 2, 8}).of(BASE, 6);
    assertThat(divided).containsExactly(plain[0], plain[1] / 2, plain[2] / 8);
    assertThatThrownBy(() -> new RopeFrequencies.PerPairFactors(new float[2]).of(BASE, 6))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("2 factors for 3 frequencies");
  }

  /** The rule as Meta published it with Llama 3.1, in terms of wavelengths. */
  @Test
  void llama3ScalingIsThePublishedOne() {
    double base = 500_000;
    double factor = 8;
    double low = 1;
    double high = 4;
    double context = 8192;
    float[] found = new RopeFrequencies.Llama3(factor, low, high, context).of(base, 128);
    int unscaled = 0;
    int interpolated = 0;
    int scaled = 0;
    for (int i = 0; i < 64; i++) {
      double frequency = 1 / Math.pow(base, 2.0 * i / 128);
      double wavelength = 2 * Math.PI / frequency;
      double expected;
      if (wavelength < context / high) {
        expected = frequency;
        unscaled++;
      } else if (wavelength > context / low) {
        expected = frequency / factor;
        scaled++;
      } else {
        double smooth = (context / wavelength - low) / (high - low);
        expected = (1 - smooth) * frequency / factor + smooth * frequency;
        interpolated++;
      }
      assertThat((double) found[i])
          .as("frequency %d", i)
          .isCloseTo(expected, within(1e-6 * expected));
    }
    assertThat(new int[] {unscaled, interpolated, scaled}).doesNotContain(0);
  }

  private static float[] rotate(
      Rope rope, float[] x, int at, int heads, int headDim, int position) {
    float[] rotated = x.clone();
    float[] cosines = new float[rope.pairs() + 1];
    float[] sines = new float[rope.pairs() + 1];
    rope.angles(position, cosines, sines, 1);
    rope.rotate(rotated, at, heads, headDim, cosines, sines, 1);
    return rotated;
  }

  private static double dot(float[] a, float[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (double) a[i] * b[i];
    }
    return sum;
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
