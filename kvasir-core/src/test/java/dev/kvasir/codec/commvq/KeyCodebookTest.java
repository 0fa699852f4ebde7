package dev.kvasir.codec.commvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyCodebookTest {
  private static final int HEAD = 12;
  private static final int STAGES = 3;

  private final Random random = new Random(9);

  /**
   * Rotating a decoded key equals decoding with rotated numbers: the codebook commutes with RoPE.
   */
  @ParameterizedTest
  @CsvSource({"HALVES, 12", "INTERLEAVED, 12", "HALVES, 8", "INTERLEAVED, 4"})
  void codebookCommutesWithRotation(RopeLayout layout, int rotaryDim) {
    Rotation rotation = new Rope(layout, RopeFrequencies.unscaled(100, rotaryDim));
    PairOrder order = PairOrder.of(rotation, HEAD);
    float[] numbers = gaussian(STAGES * AdditiveStages.ROWS * HEAD);
    KeyCodebook codebook = new KeyCodebook(gaussian(HEAD), numbers);
    short[] codes = {AdditiveStages.code(3, 60), AdditiveStages.code(63, 0), 17};
    float[] key = decode(codebook, codes, order);
    rotation.rotate(key, 0, HEAD, 1, 7);

    KeyCodebook rotated = new KeyCodebook(codebook.mean(), rotated(numbers, rotation, order, 7));
    float[] same = decode(rotated, codes, order);
    for (int i = 0; i < HEAD; i++) {
      assertThat(key[i]).isCloseTo(same[i], within(1e-5f));
    }
  }

  @ParameterizedTest
  @CsvSource({"HALVES, 12", "INTERLEAVED, 12", "HALVES, 8", "INTERLEAVED, 4"})
  void pairOrderIsInvertible(RopeLayout layout, int rotaryDim) {
    Rotation rotation = new Rope(layout, RopeFrequencies.unscaled(100, rotaryDim));
    assertThat(rotation.pairOrder(HEAD))
        .containsExactlyInAnyOrder(IntStream.range(0, HEAD).toArray());
    PairOrder order = PairOrder.of(rotation, HEAD);
    float[] x = gaussian(HEAD);
    float[] paired = new float[HEAD];
    float[] back = new float[HEAD];
    order.gather(x, 0, paired, 0);
    order.scatter(paired, 0, back, 0);
    assertThat(back).isEqualTo(x);
  }

  private static float[] decode(KeyCodebook codebook, short[] codes, PairOrder order) {
    float[] paired = new float[HEAD];
    float[] key = new float[HEAD];
    codebook.stages().decode(codes, 0, paired, 0);
    order.scatter(paired, 0, key, 0);
    return key;
  }

  private static float[] rotated(float[] numbers, Rotation rotation, PairOrder order, int by) {
    float[] out = new float[numbers.length];
    float[] row = new float[HEAD];
    for (int at = 0; at < numbers.length; at += HEAD) {
      order.scatter(numbers, at, row, 0);
      rotation.rotate(row, 0, HEAD, 1, by);
      order.gather(row, 0, out, at);
    }
    return out;
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
