package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares tiny folders, as transformers saves them, with what transformers computes of them. */
class TransformersGoldenTest {
  /** Both compute in 32-bit floats and add in other orders; logits are about 2 in size. */
  private static final float APART = 2e-4f;

  private static final String FLOATS = "fp32";

  @TempDir static Path folder;

  private final int[] tokens = TransformersFolder.tokens();

  static List<TransformersFolder> all() {
    return TransformersFolder.all();
  }

  @ParameterizedTest
  @MethodSource("all")
  void logitsAndTextAreThoseOfTransformers(TransformersFolder model) {
    Path path = model.writeTo(folder.resolve(model.toString()));
    try (FamilyRunner runner = FamilyRunner.ofFolder(path)) {
      assertClose(model, runner.inOneStep(FLOATS, tokens));
      assertClose(model, runner.tokenByToken(FLOATS, tokens));
      int[] expected = model.greedy();
      assertThat(runner.greedy(FLOATS, TransformersFolder.prompt(tokens), expected.length))
          .isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void defaultsOfTransformersMayBeLeftOut(TransformersFolder model) {
    int[] prompt = Arrays.copyOf(tokens, 40);
    assertThat(inOneStep(model.writeBareTo(folder.resolve(model + ".bare")), prompt))
        .isDeepEqualTo(inOneStep(model.writeTo(folder.resolve(model + ".whole")), prompt));
  }

  private static float[][] inOneStep(Path path, int[] prompt) {
    try (FamilyRunner runner = FamilyRunner.ofFolder(path)) {
      return runner.inOneStep(FLOATS, prompt);
    }
  }

  private static void assertClose(TransformersFolder model, float[][] found) {
    float[][] expected = model.logits();
    int group = model.group();
    float farthest = 0;
    for (int row = 0; row < expected.length; row++) {
      float[] logits = found[(row + 1) * group - 1];
      assertThat(logits).hasSameSizeAs(expected[row]);
      for (int i = 0; i < logits.length; i++) {
        float apart = Math.abs(logits[i] - expected[row][i]);
        farthest = apart <= farthest ? farthest : apart;
      }
    }
    assertThat(farthest).isLessThanOrEqualTo(APART);
  }
}
