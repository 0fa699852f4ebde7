package dev.kvasir.methods.vqllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.ScalarKernels;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ResidualCodebooksTest {
  private static final int CHANNELS = ChannelGroups.CHANNELS;
  private static final int COUNT = 20;

  private final SplittableRandom random = new SplittableRandom(5);
  private final ResidualCodebooks codebooks = SyntheticResidualCodebooks.books(random);

  private float[] vectors() {
    float[] x = new float[COUNT * CHANNELS];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  private static double square(float[] x) {
    double sum = 0;
    for (float each : x) {
      sum += each * each;
    }
    return sum;
  }

  @Test
  void codesAndResidualSumToTheVector() {
    float[] x = vectors();
    float[] left = x.clone();
    byte[] codes = new byte[COUNT * ResidualCodebooks.STAGES];
    codebooks.encode(new ScalarKernels(), left, COUNT, ResidualCodebooks.STAGES, codes);
    for (int i = 0; i < COUNT; i++) {
      for (int stage = 0; stage < ResidualCodebooks.STAGES; stage++) {
        int row = Byte.toUnsignedInt(codes[i * ResidualCodebooks.STAGES + stage]);
        for (int c = 0; c < CHANNELS; c++) {
          left[i * CHANNELS + c] += codebooks.rows()[ResidualCodebooks.at(stage, row) + c];
        }
      }
    }
    for (int i = 0; i < x.length; i++) {
      assertThat(left[i]).isCloseTo(x[i], within(1e-5f));
    }
  }

  @Test
  void everyStageReducesTheResidual() {
    double before = Double.POSITIVE_INFINITY;
    float[] x = vectors();
    for (int stages = 1; stages <= ResidualCodebooks.STAGES; stages++) {
      float[] left = x.clone();
      codebooks.encode(new ScalarKernels(), left, COUNT, stages, new byte[COUNT * stages]);
      assertThat(square(left)).isLessThan(before);
      before = square(left);
    }
  }

  @Test
  void groupsContainEveryChannelOnce() {
    for (ChannelGroups groups :
        new ChannelGroups[] {new ChannelGroups(80, true), new ChannelGroups(80, false)}) {
      float[] x = new float[80];
      for (int i = 0; i < x.length; i++) {
        x[i] = i + 1;
      }
      float[] grouped = new float[groups.count() * CHANNELS];
      groups.gather(x, 0, 2, grouped, 0);
      float[] back = new float[80];
      int[] members = groups.members(IntStream.range(0, 80).toArray());
      for (int i = 0; i < members.length; i++) {
        if (members[i] >= 0) {
          back[members[i]] += grouped[i];
        }
      }
      for (int i = 0; i < x.length; i++) {
        assertThat(back[i]).isEqualTo(2 * x[i]);
      }
    }
  }
}
