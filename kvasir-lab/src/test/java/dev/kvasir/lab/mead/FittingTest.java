package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests that fits recover planted parameters. */
class FittingTest {
  private final Random random = new Random(31);

  private double[] symmetric(int dim) {
    double[][] root = new double[dim][dim];
    for (double[] row : root) {
      Arrays.setAll(row, i -> random.nextGaussian());
    }
    double[] product = new double[dim * dim];
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        for (int k = 0; k < dim; k++) {
          product[i * dim + j] += root[i][k] * root[j][k];
        }
      }
    }
    return product;
  }

  /** Returns (a . m . a^T), each matrix by rows. */
  private static double[] conjugated(float[] a, double[] m, int dim) {
    double[] left = new double[dim * dim];
    double[] both = new double[dim * dim];
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        for (int k = 0; k < dim; k++) {
          left[i * dim + j] += a[i * dim + k] * m[k * dim + j];
        }
      }
    }
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        for (int k = 0; k < dim; k++) {
          both[i * dim + j] += left[i * dim + k] * a[j * dim + k];
        }
      }
    }
    return both;
  }

  @Test
  void componentsAreUncorrelatedAndDescending() {
    int dim = 12;
    double[] covariance = symmetric(dim);
    ValueBasis basis = ValueBasis.of(symmetric(dim), covariance, dim);
    double[] ofComponents = conjugated(basis.to(), covariance, dim);
    double largest = ofComponents[0];
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        if (i != j) {
          assertThat(ofComponents[i * dim + j]).isCloseTo(0, within(1e-4 * largest));
        }
      }
      if (i > 0) {
        assertThat(ofComponents[i * dim + i])
            .isLessThanOrEqualTo(ofComponents[(i - 1) * dim + i - 1]);
      }
    }
  }

  @Test
  void componentErrorsHaveEqualCost() {
    int dim = 12;
    double[] metric = symmetric(dim);
    ValueBasis basis = ValueBasis.of(metric, symmetric(dim), dim);
    float[] transposedFrom = new float[dim * dim];
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        transposedFrom[j * dim + i] = basis.from()[i * dim + j];
      }
    }
    double[] ofComponents = conjugated(transposedFrom, ValueBasis.regularized(metric, dim), dim);
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        assertThat(ofComponents[i * dim + j]).isCloseTo(i == j ? 1 : 0, within(1e-3));
      }
    }
  }

  @Test
  void basisIsInvertible() {
    int dim = 12;
    ValueBasis basis = ValueBasis.of(symmetric(dim), symmetric(dim), dim);
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        double sum = 0;
        for (int k = 0; k < dim; k++) {
          sum += basis.from()[i * dim + k] * (double) basis.to()[k * dim + j];
        }
        assertThat(sum).isCloseTo(i == j ? 1 : 0, within(1e-3));
      }
    }
  }

  @Test
  void sixteenLevelsFitANormalDistribution() {
    int rows = 4000;
    float[] numbers = new float[rows];
    double[] weights = new double[rows];
    for (int i = 0; i < rows; i++) {
      numbers[i] = (float) (3 + 2 * random.nextGaussian());
      weights[i] = 1;
    }
    NibbleTable table = NibbleTable.of(numbers, 1, weights);
    double left = 0;
    for (int i = 0; i < rows; i++) {
      left += Math.pow(numbers[i] - table.value(i, 0, 1), 2);
    }
    assertThat(left / rows / 4).isLessThan(0.015);
  }

  @Test
  void constantChannelIsExact() {
    NibbleTable table = NibbleTable.of(new float[] {2.5f, 2.5f, 2.5f}, 1, new double[] {1, 2, 3});
    assertThat(table.value(1, 0, 1)).isEqualTo(2.5f);
  }

  /** Tokens that never occur get the prediction of their features; others get their mean. */
  @Test
  void tableFollowsFeaturesAndObservedMeans() {
    int vocabulary = 200;
    int count = 5;
    float[] features = new float[vocabulary * count];
    float[] sums = new float[vocabulary];
    int[] counts = new int[vocabulary];
    double[] truth = new double[vocabulary];
    for (int id = 0; id < vocabulary; id++) {
      for (int f = 0; f < count; f++) {
        features[id * count + f] = f == count - 1 ? 1 : (float) random.nextGaussian();
      }
      truth[id] = 2 * features[id * count] - features[id * count + 1] + 0.5;
      counts[id] = id % 2 == 0 ? 1000 : 0;
      double own = id == 4 ? 7 : 0;
      sums[id] = (float) (counts[id] * (truth[id] + own));
    }
    try (WorkerPool workers = new WorkerPool(2)) {
      float[] table = TokenTable.fit(features, count, counts, sums, 1, workers);
      for (int id = 1; id < vocabulary; id += 2) {
        assertThat((double) table[id]).as("never met").isCloseTo(truth[id], within(0.3));
      }
      assertThat((double) table[4]).as("often met").isCloseTo(truth[4] + 7, within(0.2));
    }
  }
}
