package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.gradient.LayerGradients;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Compares the lab's decoder, which computes gradients, with the engine and with differences. */
class TracedFamilyTest {
  private static final String UNTRACEABLE =
      "DEEPSEEK.*|LFM2.*|QWEN35.*|QWEN3_NEXT|GRANITE_HYBRID.*|NEMOTRON_H.*|GEMMA4.*";

  private static final String WIDE = "GEMMA3_WIDE";

  /** The engine sums in another order, in 32-bit floats. */
  private static final double ROUNDING = 1e-4;

  /** Length of a step along a direction, of vectors whose elements are about 1. */
  private static final double STEP = 0.01;

  @TempDir private Path folder;

  private final int[] tokens = Arrays.copyOf(FamilyGolden.tokens(), 24);

  private FamilyRunner runner(Family family) {
    return FamilyRunner.ofGguf(family.model().writeGguf(folder.resolve("model.gguf")));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_NONE, names = UNTRACEABLE)
  void lossIsThatOfTheEngine(Family family) {
    try (FamilyRunner runs = runner(family)) {
      float[][] logits = runs.inOneStep("fp32", tokens);
      double expected = 0;
      for (int t = 0; t + 1 < tokens.length; t++) {
        expected += logSum(logits[t]) - logits[t][tokens[t + 1]];
      }
      assertThat(runs.traced().loss(tokens, TextVisitor.NONE).orElseThrow())
          .isCloseTo(expected / (tokens.length - 1), within(ROUNDING));
    }
  }

  private static double logSum(float[] logits) {
    double sum = 0;
    for (float logit : logits) {
      sum += Math.exp(logit);
    }
    return Math.log(sum);
  }

  /**
   * Half of a layer's gradients, chosen at random, are a direction; the loss must rise along it as
   * fast as they say.
   */
  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_NONE, names = UNTRACEABLE + "|" + WIDE)
  void gradientsAreDifferences(Family family) {
    try (FamilyRunner runs = runner(family)) {
      TracedDecoder traced = runs.traced();
      List<LayerGradients> gradients = new ArrayList<>();
      traced.gradients(
          tokens,
          new TextVisitor() {
            @Override
            public boolean backward(LayerGradients found) {
              gradients.add(copy(found));
              return true;
            }
          });
      for (LayerGradients layer : gradients) {
        compare(traced, layer.layer(), true, half(layer.keyGradients()));
        compare(traced, layer.layer(), false, half(layer.valueGradients()));
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_ANY, names = WIDE)
  void soTheyAreWithWideHeads(Family family) {
    gradientsAreDifferences(family);
  }

  /** Copies the gradients, which the decoder goes on to change. */
  private static LayerGradients copy(LayerGradients found) {
    return new LayerGradients(
        found.layer(),
        found.tokens(),
        found.keys(),
        found.values(),
        found.keyGradients().clone(),
        found.valueGradients().clone(),
        found.longRange());
  }

  private static float[] half(float[] gradients) {
    Random random = new Random(5);
    float[] some = gradients.clone();
    for (int i = 0; i < some.length; i++) {
      some[i] *= random.nextInt(2);
    }
    return some;
  }

  private void compare(TracedDecoder traced, int layer, boolean ofKeys, float[] direction) {
    double squares = 0;
    for (float x : direction) {
      squares += (double) x * x;
    }
    double length = Math.sqrt(squares);
    double above = loss(traced, layer, ofKeys, direction, STEP / length);
    double below = loss(traced, layer, ofKeys, direction, -STEP / length);
    assertThat((above - below) / (2 * STEP))
        .as("layer %d, %s", layer, ofKeys ? "keys" : "values")
        .isCloseTo(length, within(0.01 * length + ROUNDING));
  }

  private double loss(
      TracedDecoder traced, int layer, boolean ofKeys, float[] direction, double by) {
    TextVisitor nudging =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            if (vectors.layer() == layer) {
              float[] changed = ofKeys ? vectors.keys() : vectors.values();
              for (int i = 0; i < changed.length; i++) {
                changed[i] += (float) (by * direction[i]);
              }
            }
            return true;
          }
        };
    return traced.loss(tokens, nudging).orElseThrow();
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_ALL, names = UNTRACEABLE)
  void latentAttentionAndRecurrentLayersAreRefused(Family family) {
    try (FamilyRunner runs = runner(family)) {
      assertThatThrownBy(runs::traced)
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("calibration requires multi-head attention");
    }
  }
}
