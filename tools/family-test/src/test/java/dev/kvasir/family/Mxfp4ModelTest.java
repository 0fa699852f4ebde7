package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** gpt-oss with MXFP4 experts as released: exactly the weights of the golden. */
class Mxfp4ModelTest {
  /**
   * Nats per token. Activations are rounded to eight bits for quantized weights, which may change
   * the routing, so single logits are not compared. llama.cpp rounds them too and is 0.0009 from
   * its own golden.
   */
  private static final double ROUNDED_ACTIVATIONS = 0.005;

  private static final Family FAMILY = Family.GPT_OSS;

  @TempDir Path folder;

  private final FamilyModel model = GptOss.withMxfp4(FAMILY.fileName());

  @Test
  void aFileOfMxfp4IsTheModelOfTheGolden() {
    assertGolden(FamilyRunner.ofGguf(model.writeGguf(folder.resolve("model.gguf"))));
  }

  @Test
  void aFolderOfMxfp4IsTheModelOfTheGolden() {
    assertGolden(FamilyRunner.ofFolder(model.writeFolder(folder)));
  }

  private static void assertGolden(FamilyRunner runs) {
    try (runs) {
      float[][] found = runs.inOneStep("fp32", FamilyGolden.tokens());
      assertThat(KlDivergence.mean(FamilyGolden.of(FAMILY).logits(), found))
          .isBetween(0.0, ROUNDED_ACTIVATIONS);
    }
  }
}
