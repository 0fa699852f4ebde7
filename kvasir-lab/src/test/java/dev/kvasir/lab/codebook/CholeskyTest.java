package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CholeskyTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 5, 11, 64})
  void solvesForTheOriginalMatrix(int size) {
    Random random = new Random(size);
    double[][] factor = gaussian(size, size, random);
    double[][] matrix = new double[size][size];
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) {
        for (int k = 0; k < size; k++) {
          matrix[i][j] += factor[i][k] * factor[j][k];
        }
      }
      matrix[i][i] += 1;
    }
    double[][] wanted = gaussian(size, 3, random);
    double[][] right = new double[size][3];
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) {
        for (int column = 0; column < 3; column++) {
          right[i][column] += matrix[i][j] * wanted[j][column];
        }
      }
    }
    new Cholesky(matrix).solve(right);
    for (int i = 0; i < size; i++) {
      for (int column = 0; column < 3; column++) {
        assertThat(right[i][column]).isCloseTo(wanted[i][column], within(1e-9));
      }
    }
  }

  @Test
  void matrixThatIsNotPositiveDefiniteIsRejected() {
    assertThatThrownBy(() -> new Cholesky(new double[][] {{1, 2}, {2, 1}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("pivot 1 is -3.0; expected more than 0");
  }

  private static double[][] gaussian(int rows, int columns, Random random) {
    double[][] x = new double[rows][columns];
    for (double[] row : x) {
      for (int i = 0; i < columns; i++) {
        row[i] = random.nextGaussian();
      }
    }
    return x;
  }
}
