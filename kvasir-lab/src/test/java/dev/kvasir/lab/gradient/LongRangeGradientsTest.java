package dev.kvasir.lab.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.NaiveLoss.Nudge;
import dev.kvasir.lab.gradient.TinyDecoder.Choices;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.WindowPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LongRangeGradientsTest {
  private static final long SEED = 29;
  private static final Choices WITH_NORMS =
      new Choices(4, 2, 8, 6, RopeLayout.INTERLEAVED, true, true, 90, false);

  private static int[] text(int length) {
    return new Random(SEED).ints(length, 0, 50).toArray();
  }

  private static TracedDecoder traced(TinyDecoder decoder, WorkerPool workers) {
    return new TracedDecoder(decoder.config(), decoder.weights(), 1, new ScalarKernels(), workers);
  }

  /** Returns the gradients of all layers from the last to the first. */
  private static List<LayerGradients> gradients(
      TinyDecoder decoder, int[] tokens, OptionalInt near, int threads) {
    List<LayerGradients> found = new ArrayList<>();
    TextVisitor keep =
        new TextVisitor() {
          @Override
          public OptionalInt farDistance() {
            return near;
          }

          @Override
          public boolean backward(LayerGradients shown) {
            found.add(copied(shown));
            return true;
          }
        };
    try (WorkerPool workers = new WorkerPool(threads)) {
      traced(decoder, workers).gradients(tokens, keep);
    }
    return found;
  }

  private static LayerGradients copied(LayerGradients shown) {
    return new LayerGradients(
        shown.layer(),
        shown.tokens(),
        shown.keys().clone(),
        shown.values().clone(),
        shown.keyGradients().clone(),
        shown.valueGradients().clone(),
        shown.longRange());
  }

  private static float[] farKeys(LayerGradients gradients) {
    return gradients.longRange().orElseThrow().keyGradients();
  }

  private static float[] farValues(LayerGradients gradients) {
    return gradients.longRange().orElseThrow().valueGradients();
  }

  /** Covers tiles of 64 and a layer whose window ends within the text. */
  @ParameterizedTest
  @CsvSource({"12, 1, 3", "12, 4, 3", "150, 20, 701", "150, 64, 503", "150, 75, 701"})
  void longRangeGradientsMatchDifferencesSeenByFarQueriesOnly(int length, int near, int step) {
    TinyDecoder decoder = TinyDecoder.of(WITH_NORMS, SEED);
    int[] tokens = text(length);
    NaiveLoss naive = new NaiveLoss(decoder, 1);
    for (LayerGradients layer : gradients(decoder, tokens, OptionalInt.of(near), 2)) {
      for (boolean ofKeys : new boolean[] {true, false}) {
        float[] found = ofKeys ? farKeys(layer) : farValues(layer);
        double largest = largest(found);
        assertThat(largest).isPositive();
        double by = 1e-4;
        for (int i = 0; i < found.length; i += step) {
          double above = naive.of(tokens, new Nudge(layer.layer(), ofKeys, i, by, near));
          double below = naive.of(tokens, new Nudge(layer.layer(), ofKeys, i, -by, near));
          assertThat((double) found[i])
              .as("layer %d, %s %d", layer.layer(), ofKeys ? "key" : "value", i)
              .isCloseTo((above - below) / (2 * by), within(1e-4 * largest));
        }
      }
    }
  }

  private static double largest(float[] x) {
    double largest = 0;
    for (float value : x) {
      largest = Math.max(largest, Math.abs(value));
    }
    return largest;
  }

  @Test
  void farDistanceDoesNotChangeOtherGradients() {
    TinyDecoder decoder = TinyDecoder.of(WITH_NORMS, SEED);
    List<LayerGradients> plain = gradients(decoder, text(150), OptionalInt.empty(), 2);
    for (int near : new int[] {0, 1, 70, 150, Integer.MAX_VALUE}) {
      List<LayerGradients> split = gradients(decoder, text(150), OptionalInt.of(near), 2);
      for (int i = 0; i < plain.size(); i++) {
        assertClose(split.get(i).keyGradients(), plain.get(i).keyGradients());
        assertClose(split.get(i).valueGradients(), plain.get(i).valueGradients());
      }
    }
    assertThat(plain).allMatch(layer -> layer.longRange().isEmpty());
  }

  private static void assertClose(float[] found, float[] expected) {
    float slack = (float) (1e-5 * largest(expected));
    assertThat(found).containsExactly(expected, within(slack));
  }

  @Test
  void allQueriesAreFarAtZeroAndNoneAtTheTextLength() {
    TinyDecoder decoder = TinyDecoder.of(WITH_NORMS, SEED);
    for (LayerGradients layer : gradients(decoder, text(150), OptionalInt.of(0), 2)) {
      assertThat(farKeys(layer)).isEqualTo(layer.keyGradients());
      assertThat(farValues(layer)).isEqualTo(layer.valueGradients());
    }
    for (LayerGradients layer : gradients(decoder, text(150), OptionalInt.of(150), 2)) {
      assertThat(farKeys(layer)).containsOnly(0);
      assertThat(farValues(layer)).containsOnly(0);
    }
  }

  @Test
  void longRangeGradientsDoNotDependOnThreads() {
    TinyDecoder decoder = TinyDecoder.of(Choices.plain(), SEED);
    List<LayerGradients> one = gradients(decoder, text(130), OptionalInt.of(50), 1);
    List<LayerGradients> three = gradients(decoder, text(130), OptionalInt.of(50), 3);
    for (int i = 0; i < one.size(); i++) {
      assertThat(farKeys(three.get(i))).isEqualTo(farKeys(one.get(i)));
      assertThat(farValues(three.get(i))).isEqualTo(farValues(one.get(i)));
    }
  }

  /**
   * With rotated keys k = R(u), the change of the loss along any step of u is the same either way.
   */
  @Test
  void keysAndTheirGradientsAreUnrotatedAlike() {
    TinyDecoder decoder =
        TinyDecoder.of(
            new Choices(4, 2, 8, 8, RopeLayout.HALVES, false, true, WindowPattern.UNBOUNDED, true),
            SEED);
    RopeSettings settings = decoder.config().rope();
    Rope rope =
        new Rope(
            settings.layout(), settings.frequencies().of(settings.base(), settings.dimensions()));
    List<LayerGradients> found = gradients(decoder, text(20), OptionalInt.of(3), 1);
    try (WorkerPool workers = new WorkerPool(1)) {
      TracedDecoder traced = traced(decoder, workers);
      for (LayerGradients layer : found) {
        float[] keys = traced.beforeRotation(layer.layer(), layer.keys());
        float[] gradients = traced.beforeRotation(layer.layer(), farKeys(layer));
        for (int head = 0; head < 20 * 2; head++) {
          assertThat(dot(keys, gradients, head))
              .isCloseTo(dot(layer.keys(), farKeys(layer), head), within(1e-6));
        }
        assertThat(keys).isNotEqualTo(layer.keys());
        for (int token = 0; token < 20; token++) {
          rope.rotate(keys, token * 16, 8, 2, token);
        }
        assertThat(keys).containsExactly(layer.keys(), within(1e-5f));
      }
    }
  }

  private static double dot(float[] x, float[] y, int head) {
    double sum = 0;
    for (int i = head * 8; i < head * 8 + 8; i++) {
      sum += (double) x[i] * y[i];
    }
    return sum;
  }

  @Test
  void negativeDistancesAreRejected() {
    TinyDecoder decoder = TinyDecoder.of(Choices.plain(), SEED);
    assertThatThrownBy(() -> gradients(decoder, text(5), OptionalInt.of(-3), 1))
        .hasMessage("queries are near up to -3 positions; expected at least 0");
  }
}
