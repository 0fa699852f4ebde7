package dev.kvasir.lab.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.ScalarKernels;
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

class LayerAttendedTest {
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

  private TracedDecoder traced(Crew crew) {
    return new TracedDecoder(decoder.config(), decoder.weights(), 1, new ScalarKernels(), crew);
  }

  private void forward(int threads, Consumer<LayerAttended> look) {
    try (Crew crew = new Crew(threads)) {
      assertThat(traced(crew).forward(tokens, looking(look))).isTrue();
    }
  }

  private static TextVisitor looking(Consumer<LayerAttended> look) {
    return new TextVisitor() {
      @Override
      public boolean attended(LayerAttended attended) {
        look.accept(attended);
        return true;
      }
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5, 64, 100, TOKENS, Integer.MAX_VALUE})
  void receivedAttentionIsWhatNearQueriesGive(int near) {
    forward(
        2,
        attended -> {
          double[] expected = received(attended.vectors(), window(attended.layer()), near);
          float[] found = attended.received(near);
          assertThat(found).hasSize(TOKENS * KV_HEADS);
          for (int i = 0; i < found.length; i++) {
            assertThat((double) found[i]).isCloseTo(expected[i], within(1e-4));
          }
        });
  }

  private int window(int layer) {
    return decoder.weights().layers().get(layer).window();
  }

  /** (tokens, kvHeads), by the definition. */
  private static double[] received(LayerVectors vectors, int window, int near) {
    double[] received = new double[TOKENS * KV_HEADS];
    for (int head = 0; head < QUERY_HEADS; head++) {
      int kvHead = head * KV_HEADS / QUERY_HEADS;
      for (int t = 0; t < TOKENS; t++) {
        double[] weights = weights(vectors, t, head, kvHead, Math.max(0, t - window + 1));
        for (int s = 0; s <= t; s++) {
          received[s * KV_HEADS + kvHead] += t - s < near ? weights[s] : 0;
        }
      }
    }
    return received;
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
  void allQueriesTogetherGiveOneForEachHead() {
    forward(
        2,
        attended -> {
          double sum = 0;
          for (float received : attended.received(TOKENS)) {
            sum += received;
          }
          assertThat(sum).isCloseTo(TOKENS * QUERY_HEADS, within(1e-2));
          for (float received : attended.received(1)) {
            assertThat(received).isBetween(0f, (float) QUERY_HEADS / KV_HEADS);
          }
        });
  }

  @Test
  void receivedAttentionIsTheSameWithAnyNumberOfThreadsAndInAPassForGradients() {
    List<float[]> one = new ArrayList<>();
    List<float[]> three = new ArrayList<>();
    List<float[]> withGradients = new ArrayList<>();
    forward(1, attended -> one.add(attended.received(70)));
    forward(3, attended -> three.add(attended.received(70)));
    try (Crew crew = new Crew(2)) {
      TextVisitor visitor = looking(attended -> withGradients.add(attended.received(70)));
      traced(crew).gradients(tokens, visitor);
    }
    assertThat(three.toArray(float[][]::new)).isDeepEqualTo(one.toArray(float[][]::new));
    assertThat(withGradients.toArray(float[][]::new)).isDeepEqualTo(one.toArray(float[][]::new));
  }

  @Test
  void theUpdateIsTheProjectionOfWhatWasReadWithItsBias() {
    forward(
        2,
        attended -> {
          Projection output = decoder.weights().layers().get(attended.layer()).heads().output();
          DenseMatrix matrix = (DenseMatrix) output.matrix();
          double[] read = meanRead(attended.vectors(), window(attended.layer()));
          float[] mean = attended.meanUpdate();
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

  /** (queryHeads, headDim). */
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
  void aVisitorMayEndThePassWhereALayerHasAttended() {
    List<Integer> seen = new ArrayList<>();
    TextVisitor visitor =
        new TextVisitor() {
          @Override
          public boolean attended(LayerAttended attended) {
            seen.add(attended.layer());
            return attended.layer() < 1;
          }
        };
    try (Crew crew = new Crew(2)) {
      assertThat(traced(crew).forward(tokens, visitor)).isFalse();
      assertThat(traced(crew).gradients(tokens, visitor)).isEmpty();
    }
    assertThat(seen).containsExactly(0, 1, 0, 1);
  }
}
