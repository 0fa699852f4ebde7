package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the unquantized reference weights with their goldens. They are too large to ship: name a
 * folder of safetensors with {@code -Dkvasir.reference.folder=DIR}, and a GGUF file in F16 with
 * {@code -Dkvasir.reference.gguf=FILE}. Without them the test is skipped.
 */
class ReferenceWeightsTest {
  static Stream<String> properties() {
    return Stream.of("kvasir.reference.folder", "kvasir.reference.gguf");
  }

  @ParameterizedTest
  @MethodSource("properties")
  void logitsLikelihoodAndGreedyTextAgree(String property) throws IOException {
    String path = System.getProperty(property);
    Assumptions.assumeTrue(path != null, () -> "-D" + property + " is not given");
    try (LoadedModel model = LoadedModel.load(Path.of(path))) {
      for (Golden golden : Golden.all()) {
        Golden.Measured measured = golden.measure(model);
        double worst = 0;
        for (int i = 0; i < golden.topIds().length; i++) {
          float logit = measured.lastLogits()[golden.topIds()[i]];
          worst = Math.max(worst, Math.abs(logit - golden.topLogits()[i]));
        }
        System.out.printf(
            "%s '%.20s...': nll %.5f (golden %.5f), top logits off by at most %.4f%n",
            property, golden.text().replace('\n', ' '), measured.nll(), golden.nll(), worst);
        assertThat(worst).isLessThan(0.05);
        assertThat(measured.nll()).isCloseTo(golden.nll(), within(0.005 * golden.nll()));
        assertThat(golden.continuation(model)).isEqualTo(golden.expectedContinuation());
      }
    }
  }
}
