package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.commvq.AdditiveStages;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RowStructureTest {
  private static final int LENGTH = PlantedVectors.LENGTH;

  /** Rows are determined up to a shift between the two halves of a sum. */
  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void plantedRowsAreFittedExactly(RowStructure structure) {
    PlantedVectors planted = new PlantedVectors(structure, 2, 6000, 64, 1);
    AdditiveStages fitted = fit(structure, planted, 1e-6);
    for (int i = 0; i < planted.set.count(); i++) {
      float[] sum = new float[LENGTH];
      fitted.decode(planted.codes, 2 * i, sum, 0);
      for (int d = 0; d < LENGTH; d++) {
        assertThat(sum[d]).isCloseTo(planted.set.x()[i * LENGTH + d], within(1e-3f));
      }
    }
  }

  /** At the minimum of a sum of squares, every direction increases it. */
  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void fitIsOptimalWithinTheStructure(RowStructure structure) {
    PlantedVectors planted = new PlantedVectors(structure, 2, 3000, 64, 2);
    Random random = new Random(3);
    for (int i = 0; i < planted.set.x().length; i++) {
      planted.set.x()[i] += (float) random.nextGaussian();
    }
    AdditiveStages fitted = fit(structure, planted, 1e-6);
    double least = error(planted, fitted);
    for (int trial = 0; trial < 5; trial++) {
      float[] moved = PlantedVectors.rows(structure, 2, random).rows().clone();
      for (int i = 0; i < moved.length; i++) {
        moved[i] = fitted.rows()[i] + 0.02f * moved[i];
      }
      assertThat(error(planted, new AdditiveStages(2, LENGTH, moved))).isGreaterThan(least);
    }
  }

  @ParameterizedTest
  @EnumSource(RowStructure.class)
  void unusedRowsStayInPlace(RowStructure structure) {
    PlantedVectors planted = new PlantedVectors(structure, 1, 500, 10, 4);
    AdditiveStages before = PlantedVectors.rows(structure, 1, new Random(5));
    Moments moments = moments(planted, 1);
    float[] fitted = structure.fit(moments, before.rows(), LENGTH, 0.1);
    for (int a = 10; a < AdditiveStages.ROWS; a++) {
      for (int d = 0; d < LENGTH; d++) {
        int at = before.firstAt(0, a) + d;
        assertThat(fitted[at]).isCloseTo(before.rows()[at], within(1e-5f));
      }
    }
  }

  private static AdditiveStages fit(RowStructure structure, PlantedVectors planted, double pull) {
    float[] begin = PlantedVectors.rows(structure, 2, new Random(7)).rows();
    return new AdditiveStages(2, LENGTH, structure.fit(moments(planted, 2), begin, LENGTH, pull));
  }

  private static Moments moments(PlantedVectors planted, int stages) {
    Moments moments = new Moments(stages, LENGTH);
    for (int i = 0; i < planted.set.count(); i++) {
      moments.add(planted.codes, i * stages, planted.set.x(), i * LENGTH, 1);
    }
    return moments;
  }

  private static double error(PlantedVectors planted, AdditiveStages stages) {
    double error = 0;
    float[] sum = new float[LENGTH];
    for (int i = 0; i < planted.set.count(); i++) {
      stages.decode(planted.codes, 2 * i, sum, 0);
      for (int d = 0; d < LENGTH; d++) {
        error += Math.pow(sum[d] - planted.set.x()[i * LENGTH + d], 2);
      }
    }
    return error;
  }
}
