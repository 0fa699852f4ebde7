package dev.kvasir.lab.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.NaiveLoss.Nudge;
import dev.kvasir.lab.gradient.TinyDecoder.Choices;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.WindowPattern;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TracedDecoderTest {
  private static final long SEED = 17;
  private static final RopeLayout HALVES = RopeLayout.HALVES;
  private static final RopeLayout NEIGHBOURS = RopeLayout.INTERLEAVED;
  private static final int ALL = WindowPattern.UNBOUNDED;

  private final WorkerPool workers = new WorkerPool(1);

  @AfterEach
  void close() {
    workers.close();
  }

  static Stream<Choices> models() {
    return Stream.of(
        Choices.plain(),
        new Choices(4, 2, 8, 8, NEIGHBOURS, false, false, ALL, true),
        new Choices(4, 1, 8, 4, HALVES, true, false, ALL, false),
        new Choices(3, 3, 6, 4, NEIGHBOURS, false, true, ALL, false),
        new Choices(4, 2, 8, 8, HALVES, false, false, 3, false),
        new Choices(4, 2, 12, 8, HALVES, true, true, 5, true));
  }

  private TracedDecoder traced(TinyDecoder decoder, double positionScale) {
    return new TracedDecoder(
        decoder.config(), decoder.weights(), positionScale, new ScalarKernels(), workers);
  }

  private static int[] text(int length) {
    return new Random(SEED).ints(length, 0, 50).toArray();
  }

  @ParameterizedTest
  @MethodSource("models")
  void gradientsMatchDifferences(Choices choices) {
    TinyDecoder decoder = TinyDecoder.of(choices, SEED);
    int[] tokens = text(12);
    NaiveLoss naive = new NaiveLoss(decoder, 1);
    double loss = traced(decoder, 1).gradients(tokens, differences(naive, tokens, 7)).orElseThrow();
    assertThat(loss).isCloseTo(naive.of(tokens, Nudge.NONE), within(1e-5));
  }

  @Test
  void gradientsAgreeAcrossTilesWindowsAndScaledPositions() {
    TinyDecoder decoder =
        TinyDecoder.of(new Choices(4, 2, 8, 8, NEIGHBOURS, true, true, 70, false), SEED);
    int[] tokens = text(150);
    NaiveLoss naive = new NaiveLoss(decoder, 4);
    TextVisitor visitor = differences(naive, tokens, 701);
    double loss = traced(decoder, 4).gradients(tokens, visitor).orElseThrow();
    assertThat(loss).isCloseTo(naive.of(tokens, Nudge.NONE), within(1e-5));
    assertThat(naive.of(tokens, Nudge.NONE))
        .isNotCloseTo(new NaiveLoss(decoder, 1).of(tokens, Nudge.NONE), within(1e-3));
  }

  /** Compares each {@code step}-th gradient with a central difference in double precision. */
  private static TextVisitor differences(NaiveLoss naive, int[] tokens, int step) {
    return new TextVisitor() {
      @Override
      public boolean backward(LayerGradients gradients) {
        compare(gradients.layer(), true, gradients.keyGradients());
        compare(gradients.layer(), false, gradients.valueGradients());
        return true;
      }

      private void compare(int layer, boolean ofKeys, float[] found) {
        double largest = 0;
        for (float gradient : found) {
          largest = Math.max(largest, Math.abs(gradient));
        }
        assertThat(largest).isPositive();
        double by = 1e-4;
        for (int i = 0; i < found.length; i += step) {
          double above = naive.of(tokens, new Nudge(layer, ofKeys, i, by));
          double below = naive.of(tokens, new Nudge(layer, ofKeys, i, -by));
          assertThat((double) found[i])
              .as("layer %d, %s %d", layer, ofKeys ? "key" : "value", i)
              .isCloseTo((above - below) / (2 * by), within(1e-4 * largest));
        }
      }
    };
  }

  @Test
  void logitsMatchTheEngineExceptForActivationRounding() {
    try (LoadedModel model = LoadedModel.bundled();
        KvCache cache = model.newCache(CacheSpec.parse("fp32"))) {
      int[] tokens = Arrays.copyOf(model.tokenizer().encode(BundledText.stream()), 24);
      Batch batch = new Batch();
      for (int token : tokens) {
        batch.add(cache, token, true);
      }
      model.forward(batch);
      TracedDecoder traced = TracedDecoder.of(model, 1, workers);
      float[] x = traced.lastOutput(tokens, TextVisitor.NONE);
      float[] logits =
          traced
              .head(24)
              .computeLogits(x, new SampledTokens(SEED).positions(tokens), 0, tokens.length);
      double farthest = 0;
      double sum = 0;
      int count = tokens.length * batch.vocabulary();
      for (int i = 0; i < count; i++) {
        double distance = Math.abs(logits[i] - batch.logits()[i]);
        farthest = Math.max(farthest, distance);
        sum += distance;
      }
      // The decoder rounds activations to 127 steps a side; logits span about 20.
      assertThat(farthest).isLessThan(0.5);
      assertThat(sum / count).isLessThan(0.05);
      assertThat(traced.head(24).loss(x, tokens, new MeanCrossEntropy()).value())
          .isBetween(1.0, 5.0);
    }
  }

  /** Rounded activations leave only the order of sums, which moves some of them to another byte. */
  @Test
  void activationsAreRoundedAsInTheEngine() {
    try (LoadedModel model = LoadedModel.bundled();
        KvCache cache = model.newCache(CacheSpec.parse("fp32"))) {
      int[] tokens = Arrays.copyOf(model.tokenizer().encode(BundledText.stream()), 24);
      Batch batch = new Batch();
      for (int token : tokens) {
        batch.add(cache, token, true);
      }
      model.forward(batch);
      double bytes = meanDistance(model, ActivationPrecision.BYTES, tokens, batch);
      double floats = meanDistance(model, ActivationPrecision.FLOATS, tokens, batch);
      assertThat(bytes).isLessThan(floats / 2);
    }
  }

  private double meanDistance(
      LoadedModel model, ActivationPrecision precision, int[] tokens, Batch batch) {
    TracedDecoder traced = TracedDecoder.of(model, 1, precision, workers);
    float[] x = traced.lastOutput(tokens, TextVisitor.NONE);
    int[] positions = new SampledTokens(SEED).positions(tokens);
    float[] logits = traced.head(24).computeLogits(x, positions, 0, tokens.length);
    double sum = 0;
    int count = tokens.length * batch.vocabulary();
    for (int i = 0; i < count; i++) {
      sum += Math.abs(logits[i] - batch.logits()[i]);
    }
    return sum / count;
  }

  @Test
  void visitorCanChangeTheVectors() {
    TinyDecoder decoder = TinyDecoder.of(Choices.plain(), SEED);
    int[] tokens = text(9);
    TextVisitor nudging =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            if (vectors.layer() == 1) {
              vectors.keys()[20] += 0.5f;
            }
            return true;
          }
        };
    assertThat(traced(decoder, 1).loss(tokens, nudging).orElseThrow())
        .isCloseTo(new NaiveLoss(decoder, 1).of(tokens, new Nudge(1, true, 20, 0.5)), within(1e-5));
  }

  @Test
  void layersAreVisitedForwardAndBackwardUntilTheVisitorStops() {
    TracedDecoder traced = traced(TinyDecoder.of(Choices.plain(), SEED), 1);
    assertThat(visits(traced, 99)).containsExactly("+0", "+1", "+2", "-2", "-1", "-0");
    assertThat(visits(traced, 5)).containsExactly("+0", "+1", "+2", "-2", "-1");
    assertThat(visits(traced, 2)).containsExactly("+0", "+1");
  }

  private static List<String> visits(TracedDecoder traced, int enough) {
    List<String> seen = new ArrayList<>();
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            seen.add("+" + vectors.layer());
            return seen.size() < enough;
          }

          @Override
          public boolean backward(LayerGradients gradients) {
            seen.add("-" + gradients.layer());
            return seen.size() < enough;
          }
        };
    assertThat(traced.gradients(text(5), visitor).isPresent()).isEqualTo(seen.size() < enough);
    return seen;
  }

  @Test
  void gradientsDoNotDependOnThreads() {
    TinyDecoder decoder = TinyDecoder.of(Choices.plain(), SEED);
    List<float[]> found = new ArrayList<>();
    for (int threads = 1; threads <= 3; threads++) {
      try (WorkerPool other = new WorkerPool(threads)) {
        TextVisitor keep =
            new TextVisitor() {
              @Override
              public boolean backward(LayerGradients gradients) {
                if (gradients.layer() == 0) {
                  found.add(gradients.keyGradients().clone());
                }
                return true;
              }
            };
        new TracedDecoder(decoder.config(), decoder.weights(), 1, new ScalarKernels(), other)
            .gradients(text(130), keep);
      }
    }
    assertThat(found.get(1)).isEqualTo(found.get(0));
    assertThat(found.get(2)).isEqualTo(found.get(0));
  }

  @Test
  void lossAndGradientsDoNotDependOnRowsPerPass() {
    TracedDecoder traced = traced(TinyDecoder.of(Choices.plain(), SEED), 1);
    int[] tokens = text(150);
    float[] x = traced.lastOutput(tokens, TextVisitor.NONE);
    float[] dx = new float[x.length];
    Objective.Loss loss = traced.head(150).lossAndGradients(x, tokens, new MeanCrossEntropy(), dx);
    float[] inParts = new float[x.length];
    assertThat(traced.head(37).lossAndGradients(x, tokens, new MeanCrossEntropy(), inParts))
        .isEqualTo(loss);
    assertThat(inParts).isEqualTo(dx);
  }

  @Test
  void tooShortTextIsRejected() {
    TracedDecoder traced = traced(TinyDecoder.of(Choices.plain(), SEED), 1);
    assertThatThrownBy(() -> traced.gradients(text(1), TextVisitor.NONE))
        .hasMessage("a text of 1 tokens predicts none; expected at least 2");
  }
}
