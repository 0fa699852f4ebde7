package dev.kvasir.cuda.formats.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.RopeTable;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import org.junit.jupiter.api.Test;

/** How pairs rotate within a block. */
class LinearRotationsTest {
  private static final float[] FREQUENCIES = {1, 0.03f, 0.004f, 0};
  private static final int HEAD_DIM = 2 * FREQUENCIES.length;

  private final RopeTable rope = new Rope(RopeLayout.HALVES, FREQUENCIES).table(HEAD_DIM);

  @Test
  void anglesAreRelativeToTheMiddle() {
    for (int token : new int[] {0, 63, 64, 65, 127}) {
      for (int pair = 0; pair < FREQUENCIES.length; pair++) {
        double angle = FREQUENCIES[pair] * (token - LinearRotations.MIDDLE);
        assertThat((double) LinearRotations.cosine(rope, token, pair))
            .isBetween(Math.cos(angle) - 1e-5, Math.cos(angle) + 1e-5);
        assertThat((double) LinearRotations.sine(rope, token, pair))
            .isBetween(Math.sin(angle) - 1e-5, Math.sin(angle) + 1e-5);
      }
    }
  }

  @Test
  void slowPairsAreLinear() {
    LinearRotations rotations = LinearRotations.of(rope, HEAD_DIM);
    assertThat(rotations.rotatedPairs()).isEqualTo(2);
    assertThat(rotations.isLinear(2)).isTrue();
    assertThat(rotations.errors()[3]).isZero();
    for (int token = 0; token < 128; token++) {
      float distance = (token - LinearRotations.MIDDLE) / (float) LinearRotations.MIDDLE;
      assertThat(rotations.sines()[2] * distance - LinearRotations.sine(rope, token, 2))
          .isBetween(-0.01f, 0.01f);
      assertThat(rotations.cosines()[2] - LinearRotations.cosine(rope, token, 2))
          .isBetween(-0.03f, 0.03f);
    }
  }
}
