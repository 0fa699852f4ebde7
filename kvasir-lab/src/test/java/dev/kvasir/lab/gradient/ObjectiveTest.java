package dev.kvasir.lab.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.NaiveLoss.Nudge;
import dev.kvasir.lab.gradient.Objective.Loss;
import dev.kvasir.lab.gradient.TinyDecoder.Choices;
import dev.kvasir.model.Weights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

class ObjectiveTest {
  private static final long SEED = 23;
  private static final int VOCABULARY = 50;

  private final Kernels kernels = new ScalarKernels();
  private final TinyDecoder decoder = confident(TinyDecoder.of(Choices.plain(), SEED));
  private final NaiveLoss naive = new NaiveLoss(decoder, 1);

  /** Scales logits up, so that some tokens have more than half of the probability. */
  private static TinyDecoder confident(TinyDecoder decoder) {
    Weights weights = decoder.weights();
    float[] norm = weights.outputNorm().clone();
    for (int i = 0; i < norm.length; i++) {
      norm[i] *= 4;
    }
    return new TinyDecoder(
        decoder.config(),
        new Weights(weights.embedding(), weights.layers(), norm, weights.output(), null, null));
  }

  private static int[] text(int length) {
    return new Random(SEED).ints(length, 0, VOCABULARY).toArray();
  }

  /** Returns a text whose first tokens are the most likely continuations. */
  private int[] agreeableText(int length, int agreeable) {
    int[] tokens = text(length);
    for (int t = 0; t + 1 < agreeable; t++) {
      double[] logits = naive.logits(Arrays.copyOf(tokens, t + 1), Nudge.NONE)[t];
      for (int token = 0; token < VOCABULARY; token++) {
        tokens[t + 1] = logits[token] > logits[tokens[t + 1]] ? token : tokens[t + 1];
      }
    }
    return tokens;
  }

  private Loss gradients(int[] tokens, Objective objective, TextVisitor visitor) {
    try (WorkerPool workers = new WorkerPool(2)) {
      return new TracedDecoder(decoder.config(), decoder.weights(), 1, kernels, workers)
          .gradients(tokens, objective, visitor)
          .orElseThrow();
    }
  }

  @Test
  void sampledTokenGradientsMatchDifferences() {
    int[] tokens = text(9);
    SampledTokens objective = new SampledTokens(SEED);
    double[][] logits = naive.logits(tokens, Nudge.NONE);
    int[] drawn = new int[tokens.length];
    Arrays.setAll(drawn, t -> objective.draw(probabilities(logits[t]), 0, VOCABULARY, t));
    Loss loss = gradients(tokens, objective, differences(tokens, found -> logOf(drawn, found)));
    assertThat(loss.value()).isCloseTo(logOf(drawn, logits), within(1e-4));
    assertThat(loss.counted()).isEqualTo(9);
  }

  private static double logOf(int[] drawn, double[][] logits) {
    double sum = 0;
    for (int t = 0; t < drawn.length; t++) {
      sum += logits[t][drawn[t]] - NaiveLoss.logSum(logits[t]);
    }
    return sum;
  }

  private static float[] probabilities(double[] logits) {
    float[] probabilities = new float[logits.length];
    double logSum = NaiveLoss.logSum(logits);
    for (int i = 0; i < logits.length; i++) {
      probabilities[i] = (float) Math.exp(logits[i] - logSum);
    }
    return probabilities;
  }

  @Test
  void marginGradientsMatchDifferencesWithConstantDivisor() {
    int[] tokens = agreeableText(20, 20);
    boolean[] marks = new boolean[tokens.length];
    Arrays.fill(marks, 0, 17, true);
    AnswerMargins objective = new AnswerMargins(marks, SEED);
    double[] slopes = slopes(tokens, objective);
    assertThat(Arrays.stream(slopes).map(Math::abs)).contains(0.0, 0.5).anyMatch(s -> s % 0.5 > 0);
    Loss loss =
        gradients(tokens, objective, differences(tokens, found -> margins(tokens, slopes, found)));
    double[][] logits = naive.logits(tokens, Nudge.NONE);
    assertThat(loss.value()).isCloseTo(margins(tokens, slopes, logits), within(1e-4));
    assertThat((long) loss.counted())
        .isEqualTo(Arrays.stream(slopes).filter(slope -> slope != 0).count())
        .isBetween(2L, 15L);
  }

  /** Returns the factor of each margin by position. */
  private double[] slopes(int[] tokens, AnswerMargins objective) {
    double[][] logits = naive.logits(tokens, Nudge.NONE);
    double[] slopes = new double[tokens.length];
    for (int t : objective.positions(tokens)) {
      double margin = margin(logits[t], tokens[t + 1]);
      slopes[t] = margin > 0 ? objective.sign(t) / Math.max(margin, 2) : 0;
    }
    return slopes;
  }

  private static double margins(int[] tokens, double[] slopes, double[][] logits) {
    double sum = 0;
    for (int t = 0; t + 1 < tokens.length; t++) {
      sum += slopes[t] * margin(logits[t], tokens[t + 1]);
    }
    return sum;
  }

  private static double margin(double[] logits, int right) {
    double[] others = logits.clone();
    others[right] = Double.NEGATIVE_INFINITY;
    return logits[right] - NaiveLoss.logSum(others);
  }

  private TextVisitor differences(int[] tokens, ToDoubleFunction<double[][]> loss) {
    return new TextVisitor() {
      @Override
      public boolean backward(LayerGradients gradients) {
        compare(gradients.layer(), true, gradients.keyGradients());
        compare(gradients.layer(), false, gradients.valueGradients());
        return true;
      }

      private void compare(int layer, boolean ofKeys, float[] found) {
        float largest = 0;
        for (float gradient : found) {
          largest = Math.max(largest, Math.abs(gradient));
        }
        assertThat(largest).isPositive();
        double by = 1e-4;
        for (int i = 0; i < found.length; i += 3) {
          double above = loss.applyAsDouble(naive.logits(tokens, new Nudge(layer, ofKeys, i, by)));
          double below = loss.applyAsDouble(naive.logits(tokens, new Nudge(layer, ofKeys, i, -by)));
          assertThat((double) found[i])
              .as("layer %d, %s %d", layer, ofKeys ? "key" : "value", i)
              .isCloseTo((above - below) / (2 * by), within(1e-4 * largest));
        }
      }
    };
  }

  @Test
  void tokensAreDrawnByProbability() {
    float[] probabilities = {0, 0.5f, 0, 0.3f, 0.2f, 0};
    int[] drawn = new int[6];
    int draws = 20_000;
    for (int position = 0; position < draws; position++) {
      drawn[new SampledTokens(SEED).draw(probabilities, 0, 6, position)]++;
    }
    for (int token = 0; token < 6; token++) {
      // Five standard deviations of a proportion are less than 0.02.
      assertThat((double) drawn[token] / draws).isCloseTo(probabilities[token], within(0.02));
    }
    assertThat(drawn[0] + drawn[2] + drawn[5]).isZero();
  }

  @Test
  void marginOfALikelyTokenIsAccurate() {
    float[] logits = {1, 41, 2, 0};
    OptionalDouble share =
        new AnswerMargins(new boolean[] {false, true}, SEED)
            .replaceWithGradients(kernels, logits, 0, 4, new int[] {0, 1}, 0);
    assertThat(Math.abs(share.orElseThrow())).isCloseTo(1, within(1e-6));
    double margin = 41 - Math.log(Math.exp(1) + Math.exp(2) + Math.exp(0));
    assertThat((double) Math.abs(logits[1])).isCloseTo(1 / margin, within(1e-8));
    assertThat((double) logits[0] + logits[2] + logits[3]).isCloseTo(-logits[1], within(1e-8));
  }

  @Test
  void lossesAndGradientsDoNotDependOnThreads() {
    int[] tokens = agreeableText(140, 20);
    boolean[] marks = new boolean[tokens.length];
    Arrays.fill(marks, true);
    for (Objective objective :
        List.of(new SampledTokens(SEED), new AnswerMargins(marks, SEED), new MeanCrossEntropy())) {
      List<List<Object>> found = new ArrayList<>();
      for (int threads = 1; threads <= 3; threads++) {
        try (WorkerPool workers = new WorkerPool(threads)) {
          List<Object> seen = new ArrayList<>();
          TextVisitor keep =
              new TextVisitor() {
                @Override
                public boolean backward(LayerGradients gradients) {
                  seen.add(Arrays.hashCode(gradients.keyGradients()));
                  seen.add(Arrays.hashCode(gradients.valueGradients()));
                  return true;
                }
              };
          seen.add(
              new TracedDecoder(decoder.config(), decoder.weights(), 1, kernels, workers)
                  .gradients(tokens, objective, keep));
          found.add(seen);
        }
      }
      assertThat(found).containsOnly(found.getFirst());
    }
  }

  @Test
  void withoutMarksThereIsNoLoss() {
    int[] tokens = text(6);
    assertThat(gradients(tokens, new AnswerMargins(new boolean[6], SEED), TextVisitor.NONE))
        .isEqualTo(new Loss(0, 0));
  }

  @Test
  void marksOfAnotherLengthAreRejected() {
    assertThatThrownBy(() -> new AnswerMargins(new boolean[5], SEED).positions(text(6)))
        .hasMessage("there are 5 marks for 6 tokens; expected as many");
  }
}
