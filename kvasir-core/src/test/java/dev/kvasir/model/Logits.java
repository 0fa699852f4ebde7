package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import java.util.Arrays;

/** Logits of an engine after each token of a text, with a cache per text. */
final class Logits {
  private Logits() {}

  static float[][] inOneStep(HostEngine engine, int[] tokens) {
    try (KvCache cache = CacheSpec.DEFAULT.newCache(engine.config().cacheShape())) {
      Batch batch = new Batch();
      for (int token : tokens) {
        batch.add(cache, token, true);
      }
      engine.forward(batch);
      float[][] rows = new float[tokens.length][];
      for (int t = 0; t < tokens.length; t++) {
        rows[t] = row(batch, t);
      }
      return rows;
    }
  }

  /** Returns the same for an engine that is closed afterwards. */
  static float[][] ofLoaded(HostEngine loaded, int[] tokens) {
    try (loaded) {
      return inOneStep(loaded, tokens);
    }
  }

  static float[][] tokenByToken(HostEngine engine, int[] tokens) {
    try (KvCache cache = CacheSpec.DEFAULT.newCache(engine.config().cacheShape())) {
      Batch batch = new Batch();
      float[][] rows = new float[tokens.length][];
      for (int t = 0; t < tokens.length; t++) {
        batch.clear();
        batch.add(cache, tokens[t], true);
        engine.forward(batch);
        rows[t] = row(batch, 0);
      }
      return rows;
    }
  }

  static float[] row(Batch batch, int index) {
    int at = batch.logitsAt(index);
    return Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
  }

  static double[][] doubles(float[][] rows) {
    double[][] doubles = new double[rows.length][rows[0].length];
    for (int t = 0; t < rows.length; t++) {
      for (int i = 0; i < rows[t].length; i++) {
        doubles[t][i] = rows[t][i];
      }
    }
    return doubles;
  }

  static void assertClose(float[][] found, double[][] expected, double bound) {
    assertThat(found.length).isEqualTo(expected.length);
    for (int t = 0; t < found.length; t++) {
      assertThat(found[t]).hasSize(expected[t].length);
      for (int i = 0; i < found[t].length; i++) {
        if (!(Math.abs(found[t][i] - expected[t][i]) <= bound)) {
          fail(
              "token %d, logit %d: %s; expected %s within %s",
              t, i, found[t][i], expected[t][i], bound);
        }
      }
    }
  }

  /**
   * Bounds the root mean square of a token's differences. An activation near a rounding boundary
   * may round either way, depending on the order of a preceding sum. That changes a few logits by
   * many times the typical difference, but little on average.
   */
  static void assertCloseOnAverage(float[][] found, double[][] expected, double bound) {
    assertThat(found.length).isEqualTo(expected.length);
    for (int t = 0; t < found.length; t++) {
      assertThat(found[t]).hasSize(expected[t].length);
      double squares = 0;
      for (int i = 0; i < found[t].length; i++) {
        squares += Math.pow(found[t][i] - expected[t][i], 2);
      }
      assertThat(Math.sqrt(squares / found[t].length)).as("token %d", t).isLessThanOrEqualTo(bound);
    }
  }
}
