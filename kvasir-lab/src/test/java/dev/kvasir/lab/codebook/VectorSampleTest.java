package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Model;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.SamplePlan.Reservoir;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class VectorSampleTest {
  private static final CacheShape SHAPE = new CacheShape(2, 3, 4);

  @Test
  void vectorsAreStoredInTheirSlots() {
    VectorSample sample = VectorSample.zero(SHAPE, 7);
    float[] x = {9, 1, 2, 3, 4};
    sample.put(Side.VALUES, 1, 2, 6, x, 1);
    assertThat(sample.count()).isEqualTo(7);
    assertThat(Arrays.copyOfRange(sample.vectors(Side.VALUES, 1, 2), 24, 28))
        .containsExactly(1, 2, 3, 4);
    assertThat(sample.vectors(Side.KEYS, 1, 2)).containsOnly(0).hasSize(28);
  }

  @Test
  void fewTokensAreAllSampled() {
    assertThat(Reservoir.slots(7, 10, 1)).containsExactly(0, 1, 2, 3, 4, 5, 6);
  }

  @Test
  void manyTokensAreSampledUniformly() {
    double sampled = 0;
    int rounds = 400;
    for (int seed = 0; seed < rounds; seed++) {
      int[] slots = Reservoir.slots(100, 10, seed);
      assertThat(Arrays.stream(slots).filter(slot -> slot >= 0).sorted())
          .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
      sampled += Arrays.stream(slots).limit(50).filter(slot -> slot >= 0).count();
    }
    assertThat(sampled / rounds).isCloseTo(5, within(0.3));
  }

  /** In the first layer, a key depends on its token alone once its rotation is undone. */
  @Test
  void keysAreStoredBeforeRotation() {
    try (Model model = Model.bundled()) {
      int[] ids = new int[300];
      Arrays.setAll(ids, i -> 100 + i % 3);
      VectorSample sample =
          SamplePlan.readAll(
              model.config().cacheShape(),
              "text",
              ids,
              200,
              new LocalRunner(WorkerContext.of(model)),
              ProgressListener.NONE);
      assertThat(sample.count()).isEqualTo(ids.length);
      int headDim = sample.shape().headDim();
      float[] keys = sample.vectors(Side.KEYS, 0, 1);
      for (int i = 3 * headDim; i < keys.length; i++) {
        assertThat(keys[i]).isCloseTo(keys[i % (3 * headDim)], within(0.05f));
      }
    }
  }
}
