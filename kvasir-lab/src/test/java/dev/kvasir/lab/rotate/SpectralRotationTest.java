package dev.kvasir.lab.rotate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.basis.HouseholderRotation;
import dev.kvasir.lab.rotate.RotationCalibration.SpectralRotation;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpectralRotationTest {
  private final Random random = new Random(17);

  /** Returns x . x^T of vectors whose channels have very different magnitudes. */
  private double[] spread(int dim) {
    double[] spread = new double[dim * dim];
    for (int vector = 0; vector < 4 * dim; vector++) {
      double[] x = random.doubles(dim, -1, 1).toArray();
      for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
          spread[i * dim + j] += x[i] * x[j] * (i + 1) * (j + 1);
        }
      }
    }
    return spread;
  }

  @Test
  void rowsAreARotationForAnyDimension() {
    for (int dim : new int[] {8, 64, 80}) {
      assertThat(new HouseholderRotation(dim, SpectralRotation.of(spread(dim), dim)).isOrthogonal())
          .isTrue();
    }
  }

  /** A Hadamard transform of uncorrelated numbers equalizes their variances. */
  @Test
  void rotatedElementsHaveEqualVariance() {
    int dim = 16;
    double[] spread = spread(dim);
    float[] rows = SpectralRotation.of(spread, dim);
    double trace = 0;
    for (int i = 0; i < dim; i++) {
      trace += spread[i * dim + i];
    }
    for (int row = 0; row < dim; row++) {
      double variance = 0;
      for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
          variance += rows[row * dim + i] * spread[i * dim + j] * rows[row * dim + j];
        }
      }
      assertThat(variance).isCloseTo(trace / dim, within(1e-3 * trace / dim));
    }
  }

  @Test
  void bitReversalOrdersByReversedBits() {
    assertThat(SpectralRotation.bitReversal(8)).containsExactly(0, 4, 2, 6, 1, 5, 3, 7);
  }

  /** Four levels have the smallest error on a normal distribution if its tails are clipped. */
  @Test
  void rangesOfFewLevelsAreClipped() {
    ClipSearch search = new ClipSearch(64, 2);
    float[] x = new float[64 * 200];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    search.add(x);
    assertThat(search.best().ratio()).isBetween(0.55f, 0.75f);
    ClipSearch fine = new ClipSearch(64, 8);
    fine.add(x);
    assertThat(fine.best().ratio()).isEqualTo(1);
  }
}
