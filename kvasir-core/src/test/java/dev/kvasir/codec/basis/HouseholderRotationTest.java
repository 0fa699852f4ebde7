package dev.kvasir.codec.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class HouseholderRotationTest {
  private static final int DIM = 24;
  private static final int HEADS = 2;

  private final Random random = new Random(3);

  /** Returns random orthogonal matrices, by Gram-Schmidt. */
  private float[] orthogonal() {
    float[] rows = new float[HEADS * DIM * DIM];
    for (int row = 0; row < HEADS * DIM; row++) {
      double[] x = random.doubles(DIM, -1, 1).toArray();
      for (int before = row / DIM * DIM; before < row; before++) {
        double product = 0;
        for (int i = 0; i < DIM; i++) {
          product += x[i] * rows[before * DIM + i];
        }
        for (int i = 0; i < DIM; i++) {
          x[i] -= product * rows[before * DIM + i];
        }
      }
      double square = 0;
      for (double each : x) {
        square += each * each;
      }
      for (int i = 0; i < DIM; i++) {
        rows[row * DIM + i] = (float) (x[i] / Math.sqrt(square));
      }
    }
    return rows;
  }

  @Test
  void reflectionsEqualTheRotationAndItsInverse() {
    float[] rows = orthogonal();
    HouseholderRotation rotation = new HouseholderRotation(DIM, rows);
    assertThat(rotation.isOrthogonal()).isTrue();
    for (int head = 0; head < HEADS; head++) {
      float[] x = new float[2 * DIM];
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) random.nextGaussian();
      }
      float[] changed = x.clone();
      rotation.transform(head, changed, DIM, 1);
      for (int i = 0; i < DIM; i++) {
        double expected = 0;
        for (int j = 0; j < DIM; j++) {
          expected += rows[(head * DIM + i) * DIM + j] * x[DIM + j];
        }
        assertThat(changed[i]).isEqualTo(x[i]);
        assertThat((double) changed[DIM + i]).isCloseTo(expected, within(1e-5));
      }
      rotation.invert(head, changed, DIM, 1);
      for (int i = 0; i < x.length; i++) {
        assertThat(changed[i]).isCloseTo(x[i], within(1e-5f));
      }
    }
  }

  @Test
  void nonOrthogonalRowsAreDetected() {
    float[] rows = orthogonal();
    rows[5] += 0.1f;
    assertThat(new HouseholderRotation(DIM, rows).isOrthogonal()).isFalse();
  }
}
