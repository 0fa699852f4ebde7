package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KMeansTest {
  private static final int DEPTH = 12;
  private static final int CLUSTERS = 9;
  private static final int COUNT = 900;

  private final Random random = new Random(3);

  @Test
  void plantedClustersAreFound() {
    float[][] planted = new float[CLUSTERS][DEPTH];
    for (float[] centre : planted) {
      for (int d = 0; d < DEPTH; d++) {
        centre[d] = (float) (10 * random.nextGaussian());
      }
    }
    float[] centres =
        KMeans.centroids(new ScalarKernels(), around(planted, 0.1), COUNT, DEPTH, CLUSTERS);
    for (float[] centre : planted) {
      assertThat(nearestDistance(centre, centres)).isCloseTo(0, within(0.2));
    }
  }

  @Test
  void theSameVectorsGiveTheSameCentroids() {
    float[] vectors = around(new float[][] {new float[DEPTH]}, 1);
    assertThat(KMeans.centroids(new ScalarKernels(), vectors, COUNT, DEPTH, 32))
        .isEqualTo(KMeans.centroids(new ScalarKernels(), vectors.clone(), COUNT, DEPTH, 32));
  }

  @Test
  void asManyCentroidsAsVectorsAreTheVectors() {
    float[] vectors = around(new float[][] {new float[DEPTH]}, 1);
    float[] few = Arrays.copyOf(vectors, 5 * DEPTH);
    float[] centres = KMeans.centroids(new ScalarKernels(), few, 5, DEPTH, 5);
    for (int i = 0; i < 5; i++) {
      float[] vector = Arrays.copyOfRange(few, i * DEPTH, (i + 1) * DEPTH);
      assertThat(nearestDistance(vector, centres)).isZero();
    }
  }

  @Test
  void equalVectorsAreTheirOwnCentroid() {
    float[] vectors = new float[20 * DEPTH];
    Arrays.fill(vectors, 1.5f);
    assertThat(KMeans.centroids(new ScalarKernels(), vectors, 20, DEPTH, 4)).containsOnly(1.5f);
  }

  private float[] around(float[][] centres, double spread) {
    float[] vectors = new float[COUNT * DEPTH];
    for (int i = 0; i < vectors.length; i++) {
      float[] centre = centres[i / DEPTH % centres.length];
      vectors[i] = (float) (centre[i % DEPTH] + spread * random.nextGaussian());
    }
    return vectors;
  }

  private static double nearestDistance(float[] vector, float[] centres) {
    double nearest = Double.POSITIVE_INFINITY;
    for (int at = 0; at < centres.length; at += DEPTH) {
      double sum = 0;
      for (int d = 0; d < DEPTH; d++) {
        sum += Math.pow(vector[d] - centres[at + d], 2);
      }
      nearest = Math.min(nearest, Math.sqrt(sum));
    }
    return nearest;
  }

  @Test
  void aVectorIsAssignedToTheNearestCentroid() {
    float[] centres = new float[3 * DEPTH];
    Arrays.fill(centres, DEPTH, 2 * DEPTH, 1);
    Arrays.fill(centres, 2 * DEPTH, 3 * DEPTH, -1);
    float[] vectors = new float[2 * DEPTH];
    Arrays.fill(vectors, 0, DEPTH, 0.8f);
    Arrays.fill(vectors, DEPTH, 2 * DEPTH, -0.4f);
    assertThat(KMeans.nearest(new ScalarKernels(), vectors, 2, DEPTH, centres))
        .containsExactly(1, 0);
  }
}
