package dev.kvasir.codec.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HadamardTest {
  private static final int ROWS = 3;
  private final Random random = new Random(5);

  @ParameterizedTest
  @ValueSource(ints = {4, 20, 64, 80, 96, 128, 576, 1024})
  void inverseRestoresVectors(int channels) {
    for (Hadamard basis : both(channels)) {
      float[] x = vectors(channels);
      float[] y = x.clone();
      basis.transform(0, y, 0, ROWS);
      assertThat(y).isNotEqualTo(x);
      basis.invert(0, y, 0, ROWS);
      assertThat(y).containsExactly(x, within(1e-5f));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 20, 64, 80, 576})
  void transformPreservesProducts(int channels) {
    for (Hadamard basis : both(channels)) {
      float[] x = vectors(channels);
      float[] y = x.clone();
      basis.transform(0, y, 0, ROWS);
      assertThat(product(y, 0, channels, channels))
          .isCloseTo(product(x, 0, channels, channels), within(1e-3));
      assertThat(product(y, 0, 0, channels)).isCloseTo(product(x, 0, 0, channels), within(1e-2));
    }
  }

  /** With n equal parts, each would be 1 / sqrt(n). */
  @ParameterizedTest
  @CsvSource({"64, 0.13", "80, 0.5", "96, 0.5", "128, 0.09", "576, 0.25"})
  void outlierChannelIsSpread(int channels, float most) {
    for (int channel = 0; channel < channels; channel++) {
      float[] x = new float[channels];
      x[channel] = 1;
      Hadamard.plain(channels).transform(0, x, 0, 1);
      for (float part : x) {
        assertThat(Math.abs(part)).isLessThan(most);
      }
    }
  }

  @Test
  void seedsHaveTheirOwnSignsAndFingerprints() {
    float[] x = vectors(64);
    float[] y = x.clone();
    Hadamard.signed(64, 1).transform(0, x, 0, ROWS);
    Hadamard.signed(64, 2).transform(0, y, 0, ROWS);
    assertThat(Arrays.equals(x, y)).isFalse();
    assertThat(Hadamard.signed(64, 1).fingerprint())
        .isNotEqualTo(Hadamard.signed(64, 2).fingerprint())
        .isNotEqualTo(Hadamard.plain(64).fingerprint());
  }

  private static Hadamard[] both(int channels) {
    return new Hadamard[] {Hadamard.plain(channels), Hadamard.signed(channels, 7)};
  }

  private float[] vectors(int channels) {
    float[] x = new float[ROWS * channels];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  private static double product(float[] x, int a, int b, int channels) {
    double sum = 0;
    for (int i = 0; i < channels; i++) {
      sum += x[a + i] * x[b + i];
    }
    return sum;
  }
}
