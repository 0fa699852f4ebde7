package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.model.Routing.Groups;
import dev.kvasir.model.Routing.Score;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests selection and weights of experts against sorting in double precision. */
class ExpertRouterTest {
  private static final int COUNT = 24;
  private static final int USED = 5;
  private static final float[] NONE = {};

  private final RowKernels rows = new ScalarKernels().rows();
  private final Random random = new Random(3);

  static Stream<Routing> routings() {
    return Stream.of(Score.values())
        .flatMap(
            score -> Stream.of(true, false).map(norm -> new Routing(score, Groups.NONE, norm, 1)))
        .flatMap(
            plain ->
                Stream.of(
                    plain,
                    new Routing(plain.score(), new Groups(6, 2, 1), plain.normalized(), 2.5f),
                    new Routing(plain.score(), new Groups(6, 3, 2), plain.normalized(), 0.5f)));
  }

  @ParameterizedTest
  @MethodSource("routings")
  void theBestAreSelectedAndWeighted(Routing routing) {
    for (int round = 0; round < 50; round++) {
      for (boolean corrected : new boolean[] {false, true}) {
        float[] logits = floats(COUNT, 2);
        check(routing, logits, corrected ? floats(COUNT, 0.3) : NONE);
      }
    }
  }

  private void check(Routing routing, float[] logits, float[] correction) {
    double[] scores = scores(routing.score(), logits);
    double[] candidates = scores.clone();
    for (int i = 0; i < correction.length; i++) {
      candidates[i] += correction[i];
    }
    Integer[] expected = best(candidates, routing.groups());
    double[] weights = Arrays.stream(expected).mapToDouble(i -> scores[i]).toArray();
    if (routing.score() == Score.LOGIT) {
      weights = softmax(weights);
    }
    if (routing.normalized()) {
      double sum = Math.max(Arrays.stream(weights).sum(), 0x1p-14);
      weights = Arrays.stream(weights).map(weight -> weight / sum).toArray();
    }
    int[] chosen = new int[USED + 2];
    float[] found = new float[USED + 2];
    choose(routing, logits, correction, chosen, found, 1);
    for (int i = 0; i < USED; i++) {
      assertThat(chosen[1 + i]).isEqualTo(expected[i]);
      assertThat((double) found[1 + i])
          .isCloseTo(weights[i] * routing.scale(), within(1e-5 * (1 + Math.abs(weights[i]))));
    }
    assertThat(found[0]).isZero();
    assertThat(found[USED + 1]).isZero();
  }

  private static double[] scores(Score score, float[] logits) {
    double[] x = IntStream.range(0, COUNT).mapToDouble(i -> logits[i]).toArray();
    return switch (score) {
      case SOFTMAX -> softmax(x);
      case SIGMOID -> Arrays.stream(x).map(v -> 1 / (1 + Math.exp(-v))).toArray();
      case LOGIT -> x;
    };
  }

  private static double[] softmax(double[] x) {
    double sum = Arrays.stream(x).map(Math::exp).sum();
    return Arrays.stream(x).map(v -> Math.exp(v) / sum).toArray();
  }

  private static Integer[] best(double[] candidates, Groups groups) {
    int size = COUNT / groups.count();
    List<Integer> selectedGroups =
        sorted(
                groups.count(),
                group -> judged(candidates, group * size, size, groups.scoresPerGroup()))
            .limit(groups.used())
            .toList();
    return sorted(COUNT, i -> candidates[i])
        .filter(i -> selectedGroups.contains(i / size))
        .limit(USED)
        .toArray(Integer[]::new);
  }

  private static double judged(double[] candidates, int from, int size, int judges) {
    return sorted(size, i -> candidates[from + i])
        .limit(judges)
        .mapToDouble(i -> candidates[from + i])
        .sum();
  }

  private static Stream<Integer> sorted(int count, java.util.function.IntToDoubleFunction score) {
    return IntStream.range(0, count)
        .boxed()
        .sorted(Comparator.comparingDouble(i -> -score.applyAsDouble(i)));
  }

  @Test
  void ofEqualScoresTheFirstAreSelected() {
    int[] chosen = new int[USED];
    float[] weights = new float[USED];
    choose(Routing.softmax(true), new float[COUNT], NONE, chosen, weights, 0);
    assertThat(chosen).containsExactly(0, 1, 2, 3, 4);
    assertThat(weights).containsOnly(0.2f);
  }

  /** The row is lost, but it must not affect others. */
  @ParameterizedTest
  @MethodSource("routings")
  void nansStillSelectDifferentExperts(Routing routing) {
    for (float odd : new float[] {Float.NaN, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY}) {
      for (int count : new int[] {1, 7, COUNT}) {
        float[] logits = floats(COUNT, 1);
        Arrays.fill(logits, 0, count, odd);
        int[] chosen = new int[USED];
        choose(routing, logits, NONE, chosen, new float[USED], 0);
        assertThat(chosen).doesNotHaveDuplicates();
        assertThat(IntStream.of(chosen)).allMatch(expert -> expert >= 0 && expert < COUNT);
      }
    }
  }

  private void choose(
      Routing routing, float[] logits, float[] correction, int[] chosen, float[] weights, int to) {
    ExpertConfig config = new ExpertConfig(COUNT, USED, 8, 0, false, 0, routing, Activation.SILU);
    new ExpertRouter(config).route(rows, logits.clone(), 0, correction, chosen, weights, to);
  }

  private float[] floats(int count, double size) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) (size * random.nextGaussian());
    }
    return x;
  }
}
