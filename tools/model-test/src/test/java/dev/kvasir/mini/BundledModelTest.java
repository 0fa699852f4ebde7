package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.format.GgufFile;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorPlan;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Compares the shipped Q8_0 file with the goldens of its original weights. */
class BundledModelTest {
  private static LoadedModel model;
  private static List<Golden> goldens;

  @BeforeAll
  static void load() throws IOException {
    model = LoadedModel.bundled();
    goldens = Golden.all();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void idsAreExact() {
    for (Golden golden : goldens) {
      assertThat(model.tokenizer().encode(golden.text())).isEqualTo(golden.ids());
      assertThat(model.tokenizer().decode(golden.ids())).isEqualTo(golden.text());
    }
  }

  @Test
  void likelihoodIsWithinOnePercentAndTheTopTokenIsTheSame() {
    for (Golden golden : goldens) {
      Golden.Measured measured = golden.measure(model);
      assertThat(measured.nll())
          .as("nll of '%.40s'", golden.text())
          .isCloseTo(golden.nll(), within(0.01 * golden.nll()));
      assertThat(measured.likeliest()).isEqualTo(golden.topIds()[0]);
    }
  }

  @Test
  void recordAndChainAnswersAreExactToTheEnd() {
    List<Golden> answers = goldens.stream().filter(Golden::endsItself).toList();
    assertThat(answers).hasSize(2);
    for (Golden golden : answers) {
      assertThat(golden.continuation(model)).isEqualTo(golden.expectedContinuation());
    }
  }

  /** The size announced before loading is the size that loading takes. */
  @Test
  void plannedBytesAreTheBytesOfTheWeights() {
    try (GgufFile file = BundledFiles.open()) {
      long planned = TensorPlan.of(ModelConfig.of(file), file).loadedBytes();
      assertThat(planned).isEqualTo(model.weightBytes());
    }
  }

  /** After the first line, Q8_0 may select the other of two almost equal tokens. */
  @Test
  void theFirstSumIsRight() {
    Golden drill =
        goldens.stream().filter(golden -> golden.text().startsWith("Drill")).findFirst().get();
    assertThat(drill.continuation(model)).startsWith(drill.greedyText().substring(0, 3));
  }
}
