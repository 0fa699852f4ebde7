package dev.kvasir.codec.pmkvq;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RightShiftTest {
  @ParameterizedTest
  @ValueSource(ints = {8, 4, 2, 1})
  void equivalentShiftRoundsToTheNearestCode(int bits) {
    for (int code = 0; code < 1 << 2 * bits; code++) {
      long nearest = Math.round(code / (double) ((1 << bits) + 1));
      assertThat(RightShift.EQUIVALENT.shift(code, bits)).as("code %d", code).isEqualTo(nearest);
    }
  }

  /** No quotient is halfway between integers, because 2^b + 1 is odd. So ties cannot occur. */
  @ParameterizedTest
  @ValueSource(ints = {8, 4, 2, 1})
  void otherShiftsKeepTheUpperBits(int bits) {
    for (int code = 0; code < 1 << 2 * bits; code++) {
      assertThat(RightShift.DIRECT.shift(code, bits)).isEqualTo(code / (1 << bits));
      assertThat(RightShift.MODIFIED.shift(code, bits)).isEqualTo(code / (1 << bits));
    }
  }

  /** With a wide step of 1, a narrow code stands for the mean of its wide codes. */
  @ParameterizedTest
  @ValueSource(ints = {8, 4, 2})
  void modifiedShiftRepresentsTheMeanOfItsCodes(int bits) {
    int joined = 1 << bits;
    double wideScale = ((1 << 2 * bits) - 1) / 3.0;
    double step = wideScale * RightShift.MODIFIED.scaleFactor(bits) * 3 / (joined - 1.0);
    double zero = RightShift.MODIFIED.zeroSteps(bits);
    for (int code = 0; code < joined; code++) {
      double mean = code * joined + (joined - 1) / 2.0;
      assertThat(code * step + zero).isCloseTo(mean, org.assertj.core.data.Offset.offset(1e-2));
    }
  }
}
