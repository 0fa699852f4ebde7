package dev.kvasir.lab.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.TinyDecoder.Choices;
import dev.kvasir.model.Projection;
import dev.kvasir.model.RopeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttentionResultTest {
  private static final long SEED = 31;
  private static final int TOKENS = 150;
  private static final int QUERY_HEADS = 6;
  private static final int KV_HEADS = 2;
  private static final int HEAD_DIM = 8;

  private final TinyDecoder decoder =
      TinyDecoder.of(
          new Choices(QUERY_HEADS, KV_HEADS, HEAD_DIM, 8, RopeLayout.HALVES, true, true, 80, false),
          SEED);
  private final int[] tokens = new Random(SEED).ints(TOKENS, 0, 50).toArray();

  private TracedDecoder traced(WorkerPool workers) {
    return new TracedDecoder(decoder.config(), decoder.weights(), 1, new ScalarKernels(), workers);
  }

  private void forward(int threads, Consumer<AttentionResult> look) {
    try (WorkerPool workers = new WorkerPool(threads)) {
      assertThat(traced(workers).forward(tokens, looking(look))).isTrue();
    }
  }

  private static TextVisitor looking(Consumer<AttentionResult> look) {
    return new TextVisitor() {
      @Override
      public boolean afterAttention(AttentionResult result) {
        look.accept(result);
        return true;
      }
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5, 64, 100, TOKENS, Integer.MAX_VALUE})
  void attentionMassIsTheSumOverNearQueries(int near) {
    forward(
        2,
        result -> {
          double[] expected = attentionMass(result.vectors(), window(result.layer()), near);
          float[] found = result.attentionMass(near);
          assertThat(found).hasSize(TOKENS * KV_HEADS);
          for (int i = 0; i < found.length; i++) {
            assertThat((double) found[i]).isCloseTo(expected[i], within(1e-4));
          }
        });
  }

  private int window(int layer) {
    return decoder.weights().layers().get(layer).window();
  }

  /** Computes the received attention by definition. // (tokens, kvHeads) */
  private static double[] attentionMass(LayerVectors vectors, int window, int near) {
    double[] attentionMass = new double[TOKENS * KV_HEADS];
    for (int head = 0; head < QUERY_HEADS; head++) {
      int kvHead = head * KV_HEADS / QUERY_HEADS;
      for (int t = 0; t < TOKENS; t++) {
        double[] weights = weights(vectors, t, head, kvHead, Math.max(0, t - window + 1));
        for (int s = 0; s <= t; s++) {
          attentionMass[s * KV_HEADS + kvHead] += t - s < near ? weights[s] : 0;
        }
      }
    }
    return attentionMass;
  }

  private static double[] weights(LayerVectors vectors, int t, int head, int kvHead, int first) {
    double[] weights = new double[t + 1];
    double sum = 0;
    for (int s = first; s <= t; s++) {
      double dot = 0;
      for (int i = 0; i < HEAD_DIM; i++) {
        dot +=
            (double) vectors.queries()[(t * QUERY_HEADS + head) * HEAD_DIM + i]
                * vectors.keys()[(s * KV_HEADS + kvHead) * HEAD_DIM + i];
      }
      weights[s] = Math.exp(dot / Math.sqrt(HEAD_DIM));
      sum += weights[s];
    }
    for (int s = first; s <= t; s++) {
      weights[s] /= sum;
    }
    return weights;
  }

  @Test
  void attentionMassSumsToOnePerQueryAndHead() {
    forward(
        2,
        result -> {
          double sum = 0;
          for (float attentionMass : result.attentionMass(TOKENS)) {
            sum += attentionMass;
          }
          assertThat(sum).isCloseTo(TOKENS * QUERY_HEADS, within(1e-2));
          for (float attentionMass : result.attentionMass(1)) {
            assertThat(attentionMass).isBetween(0f, (float) QUERY_HEADS / KV_HEADS);
          }
        });
  }

  @Test
  void attentionMassDoesNotDependOnThreadsOrGradientPass() {
    List<float[]> one = new ArrayList<>();
    List<float[]> three = new ArrayList<>();
    List<float[]> withGradients = new ArrayList<>();
    forward(1, result -> one.add(result.attentionMass(70)));
    forward(3, result -> three.add(result.attentionMass(70)));
    try (WorkerPool workers = new WorkerPool(2)) {
      TextVisitor visitor = looking(result -> withGradients.add(result.attentionMass(70)));
      traced(workers).gradients(tokens, visitor);
    }
    assertThat(three.toArray(float[][]::new)).isDeepEqualTo(one.toArray(float[][]::new));
    assertThat(withGradients.toArray(float[][]::new)).isDeepEqualTo(one.toArray(float[][]::new));
  }

  @Test
  void updateIsTheOutputProjectionWithBias() {
    forward(
        2,
        result -> {
          Projection output = decoder.weights().layers().get(result.layer()).multiHead().output();
          DenseMatrix matrix = (DenseMatrix) output.matrix();
          double[] read = meanRead(result.vectors(), window(result.layer()));
          float[] mean = meanUpdate(result);
          assertThat(mean).hasSize(matrix.rows());
          for (int row = 0; row < mean.length; row++) {
            double expected = output.bias()[row];
            for (int i = 0; i < read.length; i++) {
              expected += matrix.value(row, i) * read[i];
            }
            assertThat((double) mean[row]).isCloseTo(expected, within(1e-5));
          }
        });
  }

  /** Computes the mean of an update over the tokens. // (hidden) */
  private static float[] meanUpdate(AttentionResult result) {
    int hidden = result.update().length / TOKENS;
    double[] sums = new double[hidden];
    for (int i = 0; i < result.update().length; i++) {
      sums[i % hidden] += result.update()[i];
    }
    float[] mean = new float[hidden];
    for (int i = 0; i < hidden; i++) {
      mean[i] = (float) (sums[i] / TOKENS);
    }
    return mean;
  }

  /** Computes the mean output. // (queryHeads, headDim) */
  private static double[] meanRead(LayerVectors vectors, int window) {
    double[] read = new double[QUERY_HEADS * HEAD_DIM];
    for (int head = 0; head < QUERY_HEADS; head++) {
      int kvHead = head * KV_HEADS / QUERY_HEADS;
      for (int t = 0; t < TOKENS; t++) {
        double[] weights = weights(vectors, t, head, kvHead, Math.max(0, t - window + 1));
        for (int s = 0; s <= t; s++) {
          for (int i = 0; i < HEAD_DIM; i++) {
            double value = vectors.values()[(s * KV_HEADS + kvHead) * HEAD_DIM + i];
            read[head * HEAD_DIM + i] += weights[s] * value / TOKENS;
          }
        }
      }
    }
    return read;
  }

  @Test
  void visitorCanEndThePassAfterAttention() {
    List<Integer> seen = new ArrayList<>();
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean afterAttention(AttentionResult result) {
            seen.add(result.layer());
            return result.layer() < 1;
          }
        };
    try (WorkerPool workers = new WorkerPool(2)) {
      assertThat(traced(workers).forward(tokens, visitor)).isFalse();
      assertThat(traced(workers).gradients(tokens, visitor)).isEmpty();
    }
    assertThat(seen).containsExactly(0, 1, 0, 1);
  }
}
