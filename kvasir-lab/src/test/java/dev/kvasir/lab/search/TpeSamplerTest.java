package dev.kvasir.lab.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class TpeSamplerTest {
  private static final List<Range> RANGES =
      List.of(new Range(0, 1), new Range(0, 1), new Range(-2, 2));
  private static final int TRIALS = 40;
  private static final int SEEDS = 30;

  /** One parameter trades the losses against each other; the others have a single optimum. */
  private static Trial known(List<Double> point) {
    double x = point.get(0);
    double away = Math.pow(point.get(1) - 0.7, 2) * 4 + Math.pow(point.get(2) + 1, 2);
    return new Trial(point, List.of(x + away, (1 - x) * (1 - x) + away));
  }

  @Test
  void frontIsBetterThanRandomSearch() {
    double byTpe = 0;
    double byChance = 0;
    int wins = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      TpeSampler sampler = new TpeSampler(RANGES, seed);
      double found = volume(run(trials -> sampler.next(trials, List.of())));
      SplittableRandom random = new SplittableRandom(seed);
      double chance =
          volume(
              run(
                  trials ->
                      RANGES.stream()
                          .map(range -> random.nextDouble(range.least(), range.most()))
                          .toList()));
      byTpe += found;
      byChance += chance;
      wins += found > chance ? 1 : 0;
    }
    assertThat(byTpe).isGreaterThan(1.1 * byChance);
    assertThat(wins).isGreaterThan(SEEDS * 2 / 3);
  }

  @Test
  void searchResumesWithTheSameResult() {
    List<Trial> whole = run(trials -> new TpeSampler(RANGES, 5).next(trials, List.of()));
    List<Trial> half = new ArrayList<>(whole.subList(0, TRIALS / 2));
    TpeSampler later = new TpeSampler(RANGES, 5);
    while (half.size() < TRIALS) {
      half.add(known(later.next(half, List.of())));
    }
    assertThat(half).isEqualTo(whole);
  }

  @Test
  void proposalsStayInRangeAndDiffer() {
    List<Trial> trials = run(done -> new TpeSampler(RANGES, 1).next(done, List.of()));
    List<List<Double>> pending = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      List<Double> next = new TpeSampler(RANGES, 1).next(trials, pending);
      for (int setting = 0; setting < RANGES.size(); setting++) {
        assertThat(next.get(setting))
            .isBetween(RANGES.get(setting).least(), RANGES.get(setting).most());
      }
      assertThat(pending).doesNotContain(next);
      pending.add(next);
    }
  }

  /** Every number of a search is drawn independently. */
  @Test
  void proposalsAreIndependent() {
    List<Range> same = List.of(new Range(0, 1), new Range(0, 1));
    List<Double> drawn = new ArrayList<>();
    List<List<Double>> pending = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      pending.add(new TpeSampler(same, 3).next(List.of(), pending));
      drawn.addAll(pending.getLast());
    }
    assertThat(drawn).doesNotHaveDuplicates();
    drawn.sort(null);
    for (int i = 1; i < drawn.size(); i++) {
      assertThat(drawn.get(i) - drawn.get(i - 1)).isGreaterThan(1e-6);
    }
  }

  @Test
  void frontOmitsDominatedTrials() {
    Trial cheap = trial(3, 1);
    Trial good = trial(1, 3);
    Trial beaten = trial(3, 2);
    Trial between = trial(2, 2);
    assertThat(ParetoFront.of(List.of(good, beaten, between, cheap)))
        .containsExactly(cheap, between, good);
    assertThat(ParetoFront.best(List.of(good, beaten, between, cheap), 4)).endsWith(beaten);
    assertThat(ParetoFront.best(List.of(good, beaten, between, cheap), 2))
        .containsExactlyInAnyOrder(cheap, good);
  }

  private static Trial trial(double first, double second) {
    return new Trial(List.of(0.0), List.of(first, second));
  }

  private static List<Trial> run(Function<List<Trial>, List<Double>> sampler) {
    List<Trial> trials = new ArrayList<>();
    while (trials.size() < TRIALS) {
      trials.add(known(sampler.apply(List.copyOf(trials))));
    }
    return trials;
  }

  /** Returns the area that the front dominates, up to losses of two. */
  private static double volume(List<Trial> trials) {
    double volume = 0;
    double top = 2;
    for (Trial trial : ParetoFront.of(trials)) {
      double first = trial.losses().getFirst();
      double second = trial.losses().getLast();
      if (first < top && second < 2) {
        volume += (top - first) * (2 - second);
        top = first;
      }
    }
    return volume;
  }
}
