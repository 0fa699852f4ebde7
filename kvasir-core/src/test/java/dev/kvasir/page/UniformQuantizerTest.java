package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UniformQuantizerTest {
  private static final int WIDEST = 65_535;

  private static UniformQuantizer range(float... numbers) {
    return UniformQuantizer.of(numbers, 0, 1, numbers.length, 2, ScaleSpan.STEP);
  }

  @Test
  void codesAreTheNearestOnesAndHalvesGoUp() {
    UniformQuantizer quantizer =
        new UniformQuantizer(Float.floatToFloat16(1), (short) 0, 1, WIDEST);
    float[] x = new float[3];
    short[] codes = new short[3];
    for (int code = 0; code < WIDEST; code++) {
      float half = code + 0.5f;
      x[0] = Math.nextDown(half);
      x[1] = half;
      x[2] = Math.nextUp(half);
      quantizer.quantize(x, 0, 3, codes, 0);
      for (int i = 0; i < 3; i++) {
        assertThat(Short.toUnsignedInt(codes[i])).isEqualTo(Math.round(x[i]));
      }
    }
  }

  @Test
  void theRangeIsThatOfTheNumbersWithTheirSigns() {
    assertThat(range(-3, 1.5f, -0.5f).zero()).isEqualTo(-3);
    assertThat(range(-3, 1.5f, -0.5f).step()).isEqualTo(1.5f);
    assertThat(range(2, 5, 3.5f).zero()).isEqualTo(2);
    assertThat(range(-5, -2).step()).isEqualTo(1);
  }

  @Test
  void negativeZeroIsBelowZero() {
    assertThat(range(0f, -0f).zeroBits()).isEqualTo(Short.MIN_VALUE);
    assertThat(range(0f, 0f).zeroBits()).isZero();
  }
}
