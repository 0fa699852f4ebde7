package dev.kvasir.lab.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PatternFitTest {
  private static final ProgressListener NO_LISTENER = (done, total) -> {};

  @Test
  void residualsHaveSmallerRangesThanVectors() {
    try (LoadedModel model = LoadedModel.bundled()) {
      PatternFit fit = measure(model, "patternkv:2,rope=rotate");
      assertThat(fit.tokens()).isEqualTo(640 - 128);
      assertThat(fit.layers()).hasSize(model.config().layers());
      assertThat(fit.layers())
          .allSatisfy(
              layer -> {
                assertThat(layer.valuesWithPattern()).isBetween(0.05, 1.0);
                assertThat(layer.keyRange()).isBetween(0.1, 1.0);
                assertThat(layer.valueRange()).isBetween(0.1, 1.0);
              });
      assertThat(peak(fit.keys().residual())).isGreaterThan(peak(fit.keys().whole()));
      assertThat(peak(fit.values().residual())).isGreaterThan(peak(fit.values().whole()));
      assertThatThrownBy(() -> measure(model, "kivi:2"))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("the cache 'kivi:2' has quantized no page with patterns");
    }
  }

  private static PatternFit measure(LoadedModel model, String spec) {
    return PatternFit.measure(
            model, CacheSpec.parse(spec), Prefill.CHUNKED, BundledText.stream(), 700, NO_LISTENER)
        .orElseThrow();
  }

  private static double peak(DeviationHistogram histogram) {
    return Arrays.stream(histogram.density()).max().orElseThrow();
  }
}
