package dev.kvasir.lab.roundtrip;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.model.RopeLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoundTripOptionsTest {
  private final RoundTripOptions options = RoundTripOptions.of(CacheSpec.DEFAULT);

  @Test
  void rotationIsAvailableToMethods() {
    RoundTripOptions rotated = options.withRope(10_000, RopeLayout.INTERLEAVED);
    assertThat(rotated.ropeTheta()).hasValue(10_000);
    assertThat(rotated.ropeLayout()).isEqualTo(RopeLayout.INTERLEAVED);
    assertThat(options.ropeTheta()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
  void invalidBaseIsRejected(double theta) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withRope(theta, RopeLayout.HALVES))
        .withMessage("rope-theta is %s; expected a number more than 0", theta);
  }

  @Test
  void countsOutOfBoundsAreRejected() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withAttend(0))
        .withMessage("attend is 0; expected at least 1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withPrefill(-1))
        .withMessage("prefill is -1; expected 0 or more");
  }
}
