package dev.kvasir.lab.smooth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.LayerVectors;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AttentionProbeTest {
  private static final AttentionShape SHAPE = new AttentionShape(4, 2, 8);
  private static final int TOKENS = 300;

  private final Random random = new Random(5);
  private final LayerVectors vectors =
      new LayerVectors(0, TOKENS, gaussian(32), gaussian(16), gaussian(16));
  private final float[] otherKeys = gaussian(16);

  private float[] gaussian(int perToken) {
    float[] x = new float[TOKENS * perToken];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  @ParameterizedTest
  @CsvSource({
    "1, 20, 70, 2147483647",
    "0, 1, 1000, 2147483647",
    "3, 128, 10, 2147483647",
    "2, 16, 100, 40",
    "2, 16, 100, 10",
    "5, 290, 256, 2147483647"
  })
  void errorsMatchAttentionByDefinition(int sinks, int window, int queries, int layerWindow) {
    SmoothingSettings settings = new SmoothingSettings(sinks, window, queries, FactorSharing.TIED);
    double expectedError = 0;
    double expectedOutput = 0;
    int taken = 0;
    for (int t = sinks + window; t < TOKENS && taken < queries; t += settings.step(TOKENS)) {
      taken++;
      for (int head = 0; head < SHAPE.queryHeads(); head++) {
        double[] exact = attend(head, t, layerWindow, 0, 0);
        double[] coded = attend(head, t, layerWindow, sinks, t - window + 1);
        for (int i = 0; i < exact.length; i++) {
          expectedOutput += exact[i] * exact[i];
          expectedError += (exact[i] - coded[i]) * (exact[i] - coded[i]);
        }
      }
    }
    try (WorkerPool workers = new WorkerPool(2)) {
      AttentionProbe probe =
          new AttentionProbe(vectors, SHAPE, layerWindow, settings, new ScalarKernels(), workers);
      assertThat(taken).isEqualTo(settings.queriesOf(TOKENS));
      assertThat(probe.outputSquares()).isCloseTo(expectedOutput, within(1e-4 * expectedOutput));
      assertThat(probe.errorSquares(otherKeys))
          .isCloseTo(expectedError, within(1e-4 * expectedError + 1e-9));
      assertThat(probe.errorSquares(vectors.keys())).isCloseTo(0, within(1e-9));
    }
  }

  /** Uses other keys from {@code from} to {@code to}. */
  private double[] attend(int head, int position, int layerWindow, int from, int to) {
    double[] out = new double[SHAPE.headDim()];
    int kvHead = head / SHAPE.queriesPerKvHead();
    double sum = 0;
    for (int t = Math.max(0, position - layerWindow + 1); t <= position; t++) {
      float[] keys = t >= from && t < to ? otherKeys : vectors.keys();
      int kvAt = (t * SHAPE.kvHeads() + kvHead) * SHAPE.headDim();
      int queryAt = (position * SHAPE.queryHeads() + head) * SHAPE.headDim();
      double dot = 0;
      for (int i = 0; i < SHAPE.headDim(); i++) {
        dot += (double) vectors.queries()[queryAt + i] * keys[kvAt + i];
      }
      double weight = Math.exp(dot / Math.sqrt(SHAPE.headDim()));
      sum += weight;
      for (int i = 0; i < SHAPE.headDim(); i++) {
        out[i] += weight * vectors.values()[kvAt + i];
      }
    }
    for (int i = 0; i < out.length; i++) {
      out[i] /= sum;
    }
    return out;
  }

  @Test
  void unquantizedKeysDoNotMatter() {
    SmoothingSettings settings = new SmoothingSettings(4, 50, 100, FactorSharing.TIED);
    float[] changed = vectors.keys().clone();
    for (int i = 0; i < 4 * 16; i++) {
      changed[i] += 3; // sinks
    }
    for (int i = (TOKENS - 49) * 16; i < changed.length; i++) {
      changed[i] += 3; // the window of the last possible query
    }
    try (WorkerPool workers = new WorkerPool(1)) {
      AttentionProbe probe =
          new AttentionProbe(
              vectors, SHAPE, Integer.MAX_VALUE, settings, new ScalarKernels(), workers);
      assertThat(probe.errorSquares(changed)).isZero();
    }
  }
}
