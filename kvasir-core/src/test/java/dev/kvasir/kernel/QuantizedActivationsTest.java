package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuantizedActivationsTest {
  private static final long SEED = 3;
  private static final int COLUMNS = 128;

  private final Random random = new Random(SEED);
  private final QuantizedActivations row = oneRow();

  private static QuantizedActivations oneRow() {
    QuantizedActivations activations = new QuantizedActivations();
    activations.begin(1, COLUMNS);
    return activations;
  }

  @ParameterizedTest
  @ValueSource(floats = {1e-35f, 1e-10f, 1, 1e10f, 1e35f})
  void aCodeIsTheNearestStep(float size) {
    float[] x = gaussian(COLUMNS, size);
    row.quantize(0, x, 0);
    for (int i = 0; i < COLUMNS; i++) {
      double step = row.scales()[i / QuantizedActivations.GROUP];
      // The sum of a code and 128.5 has 16 fractional bits, so a tie may round either way.
      assertThat(row.codes()[i] * step)
          .as("seed %d, column %d", SEED, i)
          .isCloseTo(x[i], within(step * 0.50005));
    }
  }

  @Test
  void theLargestOfAGroupGetsCode127() {
    for (int sign : new int[] {-1, 1}) {
      float[] x = gaussian(COLUMNS, 1);
      x[40] = 100f * sign;
      row.quantize(0, x, 0);
      assertThat(row.codes()[40]).isEqualTo((byte) (127 * sign));
      assertThat(row.scales()[1]).isEqualTo(100f / 127);
      assertThat(row.scales()[0]).isLessThan(0.1f);
    }
  }

  @Test
  void aGroupOfZerosHasScaleZeroAndCodesZero() {
    row.quantize(0, gaussian(COLUMNS, 1), 0);
    float[] x = gaussian(COLUMNS, 1);
    Arrays.fill(x, 32, 64, 0);
    x[50] = -0f;
    row.quantize(0, x, 0);
    assertThat(row.scales()[1]).isZero();
    assertThat(Arrays.copyOfRange(row.codes(), 32, 64)).containsOnly(0);
    assertThat(row.sums()[2]).isZero();
    assertThat(row.sums()[3]).isZero();
    assertThat(row.scales()[0]).isPositive();
  }

  @Test
  void sumsAreThoseOfTheCodesTimesTheirScale() {
    row.quantize(0, gaussian(COLUMNS, 1), 0);
    for (int group = 0; group < COLUMNS / QuantizedActivations.SUM_GROUP; group++) {
      int sum = 0;
      for (int i = 0; i < QuantizedActivations.SUM_GROUP; i++) {
        sum += row.codes()[group * QuantizedActivations.SUM_GROUP + i];
      }
      float scale =
          row.scales()[group * QuantizedActivations.SUM_GROUP / QuantizedActivations.GROUP];
      assertThat(row.sums()[group]).isEqualTo(scale * sum);
    }
  }

  @Test
  void activationsAreReadFromTheirOffset() {
    float[] x = gaussian(COLUMNS + 5, 1);
    row.quantize(0, x, 5);
    byte[] codes = row.codes().clone();
    QuantizedActivations other = oneRow();
    other.quantize(0, Arrays.copyOfRange(x, 5, 5 + COLUMNS), 0);
    assertThat(codes).isEqualTo(other.codes());
  }

  /** Values so small that 127 divided by them is infinite. */
  @ParameterizedTest
  @ValueSource(floats = {Float.MIN_VALUE, 1e-44f, 1e-39f, Float.MIN_NORMAL, 1e-37f, 3e-37f, 4e-37f})
  void numbersTooSmallToDivideByAreStillQuantizedWithinAStep(float tiny) {
    float[] x = new float[COLUMNS];
    for (int i = 0; i < 32; i++) {
      x[i] = tiny * (i % 3 - 1);
    }
    row.quantize(0, x, 0);
    for (int i = 0; i < 32; i++) {
      assertThat(row.codes()[i]).isBetween((byte) -127, (byte) 127);
      assertThat((double) row.codes()[i] * row.scales()[0]).isCloseTo(x[i], within((double) tiny));
    }
    assertThat((double) row.sums()[0]).isCloseTo(0, within(32.0 * tiny));
  }

  @Test
  void theLargestFloatIsQuantized() {
    float[] x = new float[COLUMNS];
    x[3] = Float.MAX_VALUE;
    x[4] = -Float.MAX_VALUE;
    row.quantize(0, x, 0);
    assertThat(row.codes()[3]).isEqualTo((byte) 127);
    assertThat(row.codes()[4]).isEqualTo((byte) -127);
    assertThat(row.codes()[5]).isZero();
    assertThat(row.sums()[0]).isZero();
  }

  /** A corrupt activation must not become a harmless number in a product. */
  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
  void aNumberThatIsNotFiniteSpoilsItsGroupAndNoOther(float bad) {
    float[] x = gaussian(COLUMNS, 1);
    x[33] = bad;
    row.quantize(0, x, 0);
    assertThat(row.scales()[1]).isNaN();
    assertThat(row.scales()[0]).isFinite();
    assertThat(row.scales()[2]).isFinite();
  }

  private float[] gaussian(int count, float size) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian() * size;
    }
    return x;
  }
}
