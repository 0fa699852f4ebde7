package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LloydMaxCodesTest {
  private static final int TOKENS = 128;

  /** Max's table of 1960, for a standard deviation of one. */
  @Test
  void levelsOfManyDimensionsAreThoseOfANormalDistribution() {
    float unit = (float) Math.sqrt(1024);
    assertThat(LloydMaxLevels.of(1, 1024)[1] * unit).isCloseTo(0.7980f, within(2e-3f));
    assertThat(LloydMaxLevels.of(2, 1024)[2] * unit).isCloseTo(0.4528f, within(2e-3f));
    assertThat(LloydMaxLevels.of(2, 1024)[3] * unit).isCloseTo(1.510f, within(3e-3f));
    assertThat(LloydMaxLevels.of(3, 1024)[7] * unit).isCloseTo(2.152f, within(5e-3f));
    assertThat(LloydMaxLevels.of(4, 1024)[15] * unit).isCloseTo(2.733f, within(1e-2f));
  }

  @Test
  void levelsAreEvenAndInOrder() {
    for (int dimensions : new int[] {4, 20, 64, 80, 1024}) {
      float[] levels = LloydMaxLevels.of(4, dimensions);
      for (int i = 0; i < levels.length; i++) {
        assertThat(levels[i]).isEqualTo(-levels[levels.length - 1 - i]);
        assertThat(i == 0 || levels[i] > levels[i - 1]).isTrue();
      }
    }
  }

  /** The fraction of a random vector's square that is lost, from Max's table. */
  @ParameterizedTest
  @CsvSource({"1, 0.363", "2, 0.117", "3, 0.0345", "4, 0.0095"})
  void randomVectorsLoseWhatTheLevelsPromise(int bits, double loss) {
    assertThat(loss(bits, true)).isCloseTo(loss, within(0.06 * loss));
    assertThat(loss(bits, false)).isCloseTo(loss, within(0.06 * loss));
  }

  private static double loss(int bits, boolean byLane) {
    LloydMaxCodes codes =
        byLane
            ? new LloydMaxCodes(64, TOKENS, bits, true)
            : new LloydMaxCodes(TOKENS, 64, bits, false);
    Random random = new Random(3);
    float[] x = new float[64 * TOKENS];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    float[] back = back(codes, x);
    double lost = 0;
    double all = 0;
    for (int i = 0; i < x.length; i++) {
      lost += (x[i] - back[i]) * (x[i] - back[i]);
      all += x[i] * x[i];
    }
    return lost / all;
  }

  @Test
  void aVectorOfZerosComesBackAsZeros() {
    for (float x : back(new LloydMaxCodes(20, TOKENS, 2, true), new float[20 * TOKENS])) {
      assertThat(x == 0).isTrue(); // or -0
    }
  }

  @Test
  void directionsOfFewOrManyCoordinatesAreRefused() {
    assertThatThrownBy(() -> new LloydMaxCodes(3, TOKENS, 2, true))
        .hasMessage("a direction has 3 coordinates; expected 4 to 1024");
    assertThatThrownBy(() -> new LloydMaxCodes(TOKENS, 1025, 2, false))
        .hasMessage("a direction has 1025 coordinates; expected 4 to 1024");
    assertThatThrownBy(() -> new LloydMaxCodes(8, TOKENS, 5, true))
        .hasMessage("levels have 5 bits; expected 1 to 4");
  }

  private static float[] back(LloydMaxCodes codes, float[] x) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(codes.bytes());
      CodeScratch scratch = new CodeScratch();
      codes.quantize(scratch, x, bytes, 0);
      float[] back = new float[x.length];
      codes.dequantize(scratch, bytes, 0, back);
      return back;
    }
  }
}
