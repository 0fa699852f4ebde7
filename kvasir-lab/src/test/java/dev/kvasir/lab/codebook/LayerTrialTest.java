package dev.kvasir.lab.codebook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LayerTrialTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 8);
  private static final VectorSample TRAINING = sample(600, 1);
  private static final VectorSample TEST = sample(200, 2);

  /** All channels of a head lie on a line, so that one code for all of them is most efficient. */
  private static VectorSample sample(int count, long seed) {
    VectorSample sample = VectorSample.zero(SHAPE, count);
    Random random = new Random(seed);
    float[] x = new float[8];
    for (int token = 0; token < count; token++) {
      for (int i = 0; i < 8; i++) {
        double along = random.nextGaussian();
        for (int d = 0; d < 8; d++) {
          x[d] = (float) (along * (1 + d) + 0.3 * random.nextGaussian());
        }
        sample.put(Side.values()[i / 4], i / 2 % 2, i % 2, token, x, 0);
      }
    }
    return sample;
  }

  @Test
  void moreStagesLowerTheError() {
    LayerTrial trial = new LayerTrial(1, 2, 1, () -> false);
    LayerCodebooks one = trial.train(TRAINING, 1).orElseThrow();
    LayerCodebooks two = trial.train(TRAINING, 2).orElseThrow();
    assertThat(one.kvHeads()).isEqualTo(2);
    assertThat(two.keyStages()).isEqualTo(2);
    for (Side side : Side.values()) {
      assertThat(trial.relativeError(TEST, two, side))
          .isLessThan(trial.relativeError(TEST, one, side));
    }
  }

  @Test
  void oneCodeForAllPairsBeatsTwoForHalfOfThem() {
    LayerTrial trial = new LayerTrial(0, 2, 1, () -> false);
    double whole = trial.groupedKeyError(TRAINING, TEST, 4, 2).orElseThrow();
    double halves = trial.groupedKeyError(TRAINING, TEST, 2, 1).orElseThrow();
    assertThat(whole).isLessThan(halves);
    assertThat(halves).isLessThan(0.1);
  }

  @Test
  void cancellingLeavesNoResult() {
    LayerTrial trial = new LayerTrial(0, 2, 1, () -> true);
    assertThat(trial.train(TRAINING, 1)).isEmpty();
    assertThat(trial.groupedKeyError(TRAINING, TEST, 4, 1)).isEmpty();
  }
}
