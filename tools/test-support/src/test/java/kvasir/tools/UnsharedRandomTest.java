package kvasir.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnsharedRandomTest {
  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, 17, Long.MAX_VALUE})
  void numbersAreThoseOfRandom(long seed) {
    Random expected = new Random(seed);
    Random found = new UnsharedRandom(seed);
    byte[] expectedBytes = new byte[7];
    byte[] foundBytes = new byte[7];
    for (int i = 0; i < 100; i++) {
      assertThat(found.nextGaussian()).isEqualTo(expected.nextGaussian());
      assertThat(found.nextInt(1 + i)).isEqualTo(expected.nextInt(1 + i));
      expected.nextBytes(expectedBytes);
      found.nextBytes(foundBytes);
      assertThat(foundBytes).isEqualTo(expectedBytes);
    }
  }
}
