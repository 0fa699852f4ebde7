package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.runtime.LoadedModel;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AsymmetricErrorTest {
  private static final int HEAD_DIM = 64;
  private static final int LENGTH = 192;

  private static LayerRotations rotations() {
    try (LoadedModel model = LoadedModel.bundled()) {
      return model.config().rotations().orElseThrow();
    }
  }

  private static VectorSample sample(int count, Random random) {
    VectorSample sample = VectorSample.zero(new CacheShape(1, 1, HEAD_DIM), count);
    float[] x = new float[HEAD_DIM];
    for (int token = 0; token < count; token++) {
      for (int i = 0; i < HEAD_DIM; i++) {
        x[i] = random == null ? 1 : (float) random.nextGaussian();
      }
      sample.put(Side.KEYS, 0, 0, token, x, 0);
      sample.put(Side.VALUES, 0, 0, token, x, 0);
    }
    return sample;
  }

  /**
   * Rotation leaves Gaussian keys Gaussian. The range of 32 of them is about 4.14 standard
   * deviations; at two bits the step is a third of that, and the error a twelfth of its square.
   */
  @Test
  void gaussianErrorFollowsTheRange() {
    AsymmetricError error = new AsymmetricError(sample(400, new Random(3)), LENGTH, rotations());
    double expected = Math.pow(4.14 / 3, 2) / 12;
    assertThat(error.of(Side.KEYS, 0, 2)).isCloseTo(expected, within(0.1 * expected));
    assertThat(error.of(Side.VALUES, 0, 2)).isCloseTo(expected, within(0.1 * expected));
    assertThat(error.of(Side.VALUES, 0, 1)).isGreaterThan(1);
  }

  @Test
  void equalVectorsHaveNoErrorUntilTheyAreRotated() {
    AsymmetricError error = new AsymmetricError(sample(400, null), LENGTH, rotations());
    assertThat(error.of(Side.VALUES, 0, 2)).isZero();
    assertThat(error.of(Side.KEYS, 0, 2)).isBetween(0.001, 0.1);
  }
}
