package dev.kvasir.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.kvasir.SamplingOptions;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("contract")
class SamplerTest {
  private static final long SEED = 2024;
  private static final SamplingOptions RANDOM =
      SamplingOptions.greedy().toBuilder().temperature(1).seed(SEED).build();

  private static final int DRAWS = 20_000;

  /** Logits with probabilities .5, .3, .1, .05 and .05, in another order. */
  private static final float[] FIVE = logs(0.05, 0.3, 0.5, 0.05, 0.1);

  @Test
  void greedyTakesTheMostLikelyTokenAndTheFirstInATie() {
    assertThat(pick(SamplingOptions.greedy(), 1, 5, 3)).isEqualTo(1);
    assertThat(pick(SamplingOptions.greedy(), 1, 5, 5, 5)).isEqualTo(1);
    assertThat(pick(SamplingOptions.greedy(), -3, -2, -9)).isEqualTo(1);
    assertThat(pick(SamplingOptions.greedy(), -0f, 0f)).isZero();
    assertThat(pick(SamplingOptions.greedy(), Float.NEGATIVE_INFINITY, -1e38f)).isEqualTo(1);
  }

  @Test
  void aSamplerIsGreedyOnlyIfItModifiesNoLogits() {
    SamplingOptions greedy = SamplingOptions.greedy();
    assertThat(new Sampler(greedy).isGreedy()).isTrue();
    assertThat(new Sampler(greedy).sampleGreedy(7)).isEqualTo(7);
    assertThat(new Sampler(RANDOM).isGreedy()).isFalse();
    assertThat(new Sampler(greedy.toBuilder().repetitionPenalty(1.1).build()).isGreedy()).isFalse();
    assertThat(new Sampler(greedy, TokenConstraint.NONE, OptionalInt.of(0)).isGreedy()).isFalse();
  }

  @Test
  void logitsAreReadFromTheirOffset() {
    float[] padded = {100, 100, 1, 7, 3, 100};
    assertThat(new Sampler(SamplingOptions.greedy()).sample(padded, 2, 3)).isEqualTo(1);
    assertThat(new Sampler(RANDOM.toBuilder().topK(1).build()).sample(padded, 2, 3)).isEqualTo(1);
  }

  @Test
  void theSameSeedGivesTheSamePicksAndAnotherSeedOthers() {
    int[] first = picks(RANDOM, FIVE, 200);
    assertThat(picks(RANDOM, FIVE, 200)).isEqualTo(first);
    assertThat(picks(RANDOM.toBuilder().seed(SEED + 1).build(), FIVE, 200)).isNotEqualTo(first);
  }

  @Test
  void temperatureOneDrawsTheModelsOwnProbabilities() {
    assertDistribution(RANDOM, FIVE, 0.05, 0.3, 0.5, 0.05, 0.1);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.25, 0.7, 1.5, 10, 1e5})
  void temperatureRaisesProbabilitiesToItsInverse(double temperature) {
    double[] p = {0.05, 0.3, 0.5, 0.05, 0.1};
    double[] powers = Arrays.stream(p).map(x -> Math.pow(x, 1 / temperature)).toArray();
    assertDistribution(RANDOM.toBuilder().temperature(temperature).build(), FIVE, powers);
  }

  @Test
  void aTemperatureCloseToZeroIsGreedy() {
    for (double temperature : new double[] {1e-3, 1e-30, Double.MIN_VALUE}) {
      int[] picks = picks(RANDOM.toBuilder().temperature(temperature).build(), FIVE, 100);
      assertThat(picks).containsOnly(2);
    }
  }

  @Test
  void topKKeepsTheKMostLikely() {
    assertDistribution(RANDOM.toBuilder().topK(1).build(), FIVE, 0, 0, 1, 0, 0);
    assertDistribution(RANDOM.toBuilder().topK(2).build(), FIVE, 0, 0.3, 0.5, 0, 0);
    // Of two tokens at .05, the first stays.
    assertDistribution(RANDOM.toBuilder().topK(4).build(), FIVE, 0.05, 0.3, 0.5, 0, 0.1);
    assertDistribution(RANDOM.toBuilder().topK(100).build(), FIVE, 0.05, 0.3, 0.5, 0.05, 0.1);
  }

  @Test
  void topPKeepsTheMostLikelyUpToP() {
    assertDistribution(RANDOM.toBuilder().topP(1e-9).build(), FIVE, 0, 0, 1, 0, 0);
    assertDistribution(RANDOM.toBuilder().topP(0.49).build(), FIVE, 0, 0, 1, 0, 0);
    assertDistribution(RANDOM.toBuilder().topP(0.51).build(), FIVE, 0, 0.3, 0.5, 0, 0);
    assertDistribution(RANDOM.toBuilder().topP(0.85).build(), FIVE, 0, 0.3, 0.5, 0, 0.1);
    assertDistribution(RANDOM.toBuilder().topP(0.94).build(), FIVE, 0.05, 0.3, 0.5, 0, 0.1);
  }

  @Test
  void minPDropsTokensBelowItsFractionOfTheMostLikely() {
    assertDistribution(RANDOM.toBuilder().minP(0.5).build(), FIVE, 0, 0.3, 0.5, 0, 0);
    assertDistribution(RANDOM.toBuilder().minP(0.19).build(), FIVE, 0, 0.3, 0.5, 0, 0.1);
    assertDistribution(RANDOM.toBuilder().minP(0.21).build(), FIVE, 0, 0.3, 0.5, 0, 0);
    assertDistribution(RANDOM.toBuilder().minP(0.09).build(), FIVE, 0.05, 0.3, 0.5, 0.05, 0.1);
    assertDistribution(RANDOM.toBuilder().minP(1).build(), FIVE, 0, 0, 1, 0, 0);
  }

  @Test
  void minPKeepsAllTies() {
    float[] tied = {3, 7, 7, 1, 7};
    assertDistribution(RANDOM.toBuilder().minP(1).build(), tied, 0, 1, 1, 0, 1);
  }

  @Test
  void topPAppliesAfterTopK() {
    // Of .5 and .3, the first has .625.
    assertDistribution(RANDOM.toBuilder().topK(2).topP(0.62).build(), FIVE, 0, 0, 1, 0, 0);
    assertDistribution(RANDOM.toBuilder().topK(2).topP(0.63).build(), FIVE, 0, 0.3, 0.5, 0, 0);
  }

  @Test
  void minPComesAfterTopPAndDoesNotChangeItsShares() {
    // Top-p keeps .5, .3 and .1; min-p keeps all of them.
    assertDistribution(RANDOM.toBuilder().topP(0.85).minP(0.15).build(), FIVE, 0, 0.3, 0.5, 0, 0.1);
    assertDistribution(RANDOM.toBuilder().topP(0.85).minP(0.25).build(), FIVE, 0, 0.3, 0.5, 0, 0);
  }

  @Test
  void aSeenTokenIsPenalizedWhetherItsLogitIsPositiveOrNegative() {
    SamplingOptions options = RANDOM.toBuilder().repetitionPenalty(2).build();
    float[] logits = {1, 2, -1, -2};
    Sampler sampler = new Sampler(options);
    sampler.markSeen(1);
    sampler.markSeen(2);
    sampler.markSeen(1); // a repeated token counts once
    sampler.markSeen(1_000_000); // outside the vocabulary
    float[] changed = logits.clone();
    sampler.sample(changed, 0, 4);
    assertThat(changed).containsExactly(1, 1, -2, -2);
  }

  @Test
  void sampledTokensCountAsSeen() {
    Sampler sampler =
        new Sampler(SamplingOptions.greedy().toBuilder().repetitionPenalty(2).build());
    assertThat(sampler.sample(new float[] {3, 2, 1.9f}, 0, 3)).isZero();
    assertThat(sampler.sample(new float[] {3, 2, 1.9f}, 0, 3)).isEqualTo(1);
    assertThat(sampler.sample(new float[] {3, 2, 1.9f}, 0, 3)).isEqualTo(2);
    assertThat(sampler.sample(new float[] {3, 2, 1.9f}, 0, 3)).isZero();
  }

  @Test
  void thePenaltyComesBeforeTheTemperature() {
    SamplingOptions options = RANDOM.toBuilder().repetitionPenalty(2).temperature(0.5).build();
    int[] counts = new int[2];
    for (int draw = 0; draw < DRAWS; draw++) {
      Sampler sampler = new Sampler(options.toBuilder().seed(draw).build());
      sampler.markSeen(0);
      counts[sampler.sample(new float[] {2, 0.5f}, 0, 2)]++;
    }
    // Logits 1 and .5, doubled.
    assertCounts(options, counts, Math.exp(2), Math.exp(1));
  }

  @Test
  void tiesAreDrawnEvenly() {
    assertDistribution(RANDOM, new float[8], 1, 1, 1, 1, 1, 1, 1, 1);
    assertDistribution(RANDOM, new float[] {-0f, 0f, -0f}, 1, 1, 1);
    assertDistribution(RANDOM.toBuilder().topK(3).build(), new float[8], 1, 1, 1, 0, 0, 0, 0, 0);
  }

  @Test
  void impossibleTokensAreNeverDrawn() {
    float no = Float.NEGATIVE_INFINITY;
    float[] logits = {no, 0, no, 1, no};
    assertDistribution(RANDOM, logits, 0, 1, 0, Math.E, 0);
    assertDistribution(
        RANDOM.toBuilder().temperature(9e5).build(), logits, 0, 1, 0, Math.exp(1 / 9e5), 0);
  }

  @Test
  void theOrderOfTheVocabularyDoesNotMatter() {
    Random shuffle = new Random(SEED);
    int size = 500;
    float[] logits = new float[size];
    int[] permutation = new int[size];
    for (int i = 0; i < size; i++) {
      logits[i] = (float) (3 * shuffle.nextGaussian());
      permutation[i] = i;
    }
    for (int i = size - 1; i > 0; i--) {
      int j = shuffle.nextInt(i + 1);
      int swapped = permutation[i];
      permutation[i] = permutation[j];
      permutation[j] = swapped;
    }
    float[] shuffled = new float[size];
    for (int i = 0; i < size; i++) {
      shuffled[permutation[i]] = logits[i];
    }
    SamplingOptions options = RANDOM.toBuilder().topK(100).topP(0.9).minP(0.001).build();
    int[] expected = Arrays.stream(picks(options, logits, 300)).map(i -> permutation[i]).toArray();
    assertThat(picks(options, shuffled, 300)).isEqualTo(expected);
  }

  @Test
  void aHugeVocabularyIsDrawnFrom() {
    float[] logits = new float[300_000];
    Arrays.fill(logits, -20);
    logits[299_999] = 0; // versus 300,000 times exp(-20): 6e-4
    Sampler sampler = new Sampler(RANDOM);
    int hits = 0;
    for (int draw = 0; draw < 20; draw++) {
      hits += sampler.sample(logits, 0, logits.length) == 299_999 ? 1 : 0;
    }
    assertThat(hits).isGreaterThanOrEqualTo(19);
  }

  @Test
  void samplingDoesNotAllocateAfterWarmUp() {
    Random random = new Random(SEED);
    float[] logits = new float[3000];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) random.nextGaussian();
    }
    Sampler sampler = new Sampler(RANDOM.toBuilder().topP(0.9).build());
    sampler.markSeen(logits.length - 1);
    assertThat(leastBytes(() -> sampler.sample(logits, 0, logits.length))).isZero();
  }

  /**
   * Returns the heap bytes that a thread allocates in fifty runs: the minimum of many rounds, since
   * compilation and deoptimization may allocate.
   */
  static long leastBytes(Runnable something) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20 && least > 0; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 50; i++) {
        something.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  @Test
  void aModelWithoutAFiniteLogitIsRefused() {
    float no = Float.NEGATIVE_INFINITY;
    for (SamplingOptions options : new SamplingOptions[] {SamplingOptions.greedy(), RANDOM}) {
      assertThatThrownBy(() -> pick(options, no, no))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the model gave no finite logit: its weights are damaged");
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY})
  void oneDamagedLogitIsEnoughToRefuse(float damaged) {
    for (SamplingOptions options : new SamplingOptions[] {SamplingOptions.greedy(), RANDOM}) {
      for (int index = 0; index < 3; index++) {
        float[] logits = {1, 2, 3};
        logits[index] = damaged;
        assertThatThrownBy(() -> pick(options, logits))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(
                "the model gave token %d a logit of %s: its weights are damaged", index, damaged);
      }
    }
  }

  private static float[] logs(double... probabilities) {
    float[] logits = new float[probabilities.length];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) (Math.log(probabilities[i]) + 2.5); // a constant offset has no effect
    }
    return logits;
  }

  private static int pick(SamplingOptions options, float... logits) {
    return new Sampler(options).sample(logits, 0, logits.length);
  }

  private static int[] picks(SamplingOptions options, float[] logits, int count) {
    Sampler sampler = new Sampler(options);
    int[] picks = new int[count];
    for (int i = 0; i < count; i++) {
      picks[i] = sampler.sample(logits, 0, logits.length);
    }
    return picks;
  }

  private static void assertDistribution(
      SamplingOptions options, float[] logits, double... weights) {
    int[] counts = new int[logits.length];
    for (int pick : picks(options, logits, DRAWS)) {
      counts[pick]++;
    }
    assertCounts(options, counts, weights);
  }

  /** Asserts that Pearson's chi-square is at most five standard deviations above its mean. */
  private static void assertCounts(SamplingOptions options, int[] counts, double... weights) {
    double total = Arrays.stream(weights).sum();
    double distance = 0;
    int freedom = -1;
    for (int i = 0; i < counts.length; i++) {
      double expected = DRAWS * weights[i] / total;
      if (weights[i] == 0) {
        assertThat(counts[i]).as("draws of %d with %s", i, options).isZero();
      } else {
        distance += (counts[i] - expected) * (counts[i] - expected) / expected;
        freedom++;
      }
    }
    assertThat(distance)
        .as("chi-square of %s with %s", Arrays.toString(counts), options)
        .isLessThanOrEqualTo(freedom + 5 * Math.sqrt(2.0 * freedom));
  }
}
