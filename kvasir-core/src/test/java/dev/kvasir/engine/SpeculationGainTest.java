package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What drafts from the text gain and cost on simulated machines, by the times of their steps; no
 * clock is used.
 */
class SpeculationGainTest {
  private static final int PROMPT = 400;
  private static final int ANSWER = 300;

  /** The time of a step relative to one of a single row: measured with Q4_K and Q8_0 weights. */
  private enum Machine {
    Q4_K(new double[] {1, 1, 1, 1.3, 1.4, 1.5, 1.6, 1.8}),
    Q8_0(new double[] {1, 1.3, 1.5, 1.55, 1.6, 1.6, 1.65, 1.7});

    private final double[] upToEight;

    Machine(double[] upToEight) {
      this.upToEight = upToEight;
    }

    long nanos(int rows) {
      int quads = (rows - 1) / upToEight.length;
      return (long) (1e6 * (upToEight[(rows - 1) % upToEight.length] + 0.8 * quads));
    }
  }

  private final Random random = new Random(7);

  private int[] randomTokens(int count, int vocabulary) {
    return random.ints(count, 0, vocabulary).toArray();
  }

  /** Returns how many times as fast an answer is generated as without drafts. */
  private static double gain(Machine machine, int[] prompt, int[] answer) {
    StepCosts costs = new StepCosts();
    NgramDrafter drafter = new NgramDrafter();
    int[] draft = new int[Drafter.MAX_TOKENS];
    int[] lastStep = {1, 1}; // rows and tokens
    drafter.begin(prompt, prompt.length);
    long nanos = 0;
    for (int done = 0; done < answer.length; ) {
      int max = Math.min(Drafter.MAX_TOKENS, answer.length - done - 1);
      int drafted =
          max == 0
              ? 0
              : drafter.draft(
                  (chances, count, each) ->
                      costs.choose(lastStep[0], lastStep[1], chances, count, each),
                  max,
                  draft);
      int tokens = 1;
      while (tokens <= drafted && draft[tokens - 1] == answer[done + tokens - 1]) {
        tokens++;
      }
      long step = machine.nanos(1 + drafted);
      costs.record(1 + drafted, step, tokens);
      nanos += step;
      lastStep[0] = 1 + drafted;
      lastStep[1] = tokens;
      Arrays.stream(answer, done, done + tokens).forEach(drafter::append);
      done += tokens;
    }
    return (double) answer.length * machine.nanos(1) / nanos;
  }

  private static int[] answer(int count, IntUnaryOperator tokenAt) {
    int[] answer = new int[count];
    Arrays.setAll(answer, tokenAt);
    return answer;
  }

  /** With few different tokens, most pairs have occurred before and say nothing. */
  @ParameterizedTest
  @ValueSource(ints = {20, 100, 1000, 30_000})
  void textWithoutRepetitionsLosesLittle(int vocabulary) {
    for (Machine machine : Machine.values()) {
      int[] prompt = randomTokens(PROMPT, vocabulary);
      int[] answer = randomTokens(ANSWER, vocabulary);
      assertThat(gain(machine, prompt, answer)).as(machine.name()).isGreaterThan(0.97);
    }
  }

  /** An edit copies the prompt, but for some tokens. */
  @ParameterizedTest
  @ValueSource(ints = {10, 20, 50})
  void aCopyWithEditsIsFaster(int edited) {
    for (Machine machine : Machine.values()) {
      int[] prompt = randomTokens(PROMPT, 1000);
      int[] answer =
          answer(ANSWER, at -> at % edited == edited - 1 ? random.nextInt(1000) : prompt[at]);
      assertThat(gain(machine, prompt, answer)).as(machine.name()).isGreaterThan(1.8);
    }
  }
}
