package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Model;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class VectorSampleTest {
  private static final CacheShape SHAPE = new CacheShape(2, 3, 4);

  @Test
  void fewTokensAreAllKept() {
    VectorSample sample = new VectorSample(SHAPE, 10, 1);
    for (int token = 0; token < 7; token++) {
      assertThat(sample.nextSlot()).isEqualTo(token);
    }
    float[] x = {9, 1, 2, 3, 4};
    sample.put(Side.VALUES, 1, 2, 6, x, 1);
    assertThat(sample.count()).isEqualTo(7);
    assertThat(Arrays.copyOfRange(sample.vectors(Side.VALUES, 1, 2), 24, 28))
        .containsExactly(1, 2, 3, 4);
    assertThat(sample.vectors(Side.KEYS, 1, 2)).containsOnly(0).hasSize(28);
  }

  @Test
  void ofManyTokensEachIsAsLikelyToBeKept() {
    double kept = 0;
    int rounds = 400;
    for (int seed = 0; seed < rounds; seed++) {
      VectorSample sample = new VectorSample(new CacheShape(1, 1, 1), 10, seed);
      int[] held = new int[10];
      for (int token = 0; token < 100; token++) {
        int slot = sample.nextSlot();
        if (slot >= 0) {
          held[slot] = token;
        }
      }
      assertThat(sample.count()).isEqualTo(10);
      kept += Arrays.stream(held).filter(token -> token < 50).count();
    }
    assertThat(kept / rounds).isCloseTo(5, within(0.3));
  }

  /** In the first layer a key depends on its token alone, once its position is turned back. */
  @Test
  void keysAreTurnedBackToBeforeTheirRotation() {
    try (Model model = Model.bundled()) {
      int[] ids = new int[300];
      Arrays.setAll(ids, i -> 100 + i % 3);
      VectorSample sample = new VectorSample(model.config().cacheShape(), ids.length, 1);
      new SampleReader(model).read(ids, 200, sample, (done, inAll) -> {});
      assertThat(sample.count()).isEqualTo(ids.length);
      int headDim = sample.shape().headDim();
      float[] keys = sample.vectors(Side.KEYS, 0, 1);
      for (int i = 3 * headDim; i < keys.length; i++) {
        assertThat(keys[i]).isCloseTo(keys[i % (3 * headDim)], within(0.05f));
      }
    }
  }
}
