package dev.kvasir.lab.eval;

import dev.kvasir.SamplingOptions;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.sampling.Sampler;
import java.io.Serializable;

/**
 * How the answers to a question are generated. All caches draw with the same random numbers.
 *
 * @param temperature 0 always takes the most likely token
 * @param topP keeps the most likely tokens up to this cumulative probability
 * @param answers number of answers to each question
 * @param seed decides, with question and answer, the random numbers of an answer
 */
public record AnswerSampling(double temperature, double topP, int answers, long seed)
    implements Serializable {
  /** One answer to each question, always with the most likely token. */
  public static final AnswerSampling GREEDY = new AnswerSampling(0, 1, 1, 0);

  public AnswerSampling {
    if (!(temperature >= 0 && topP > 0 && topP <= 1) || answers < 1) {
      throw new IllegalArgumentException(
          "temperature %s, top-p %s and %d answers; expected 0 or more, 0 to 1, and 1 or more"
              .formatted(temperature, topP, answers));
    }
    if (temperature == 0 && answers > 1) {
      throw new IllegalArgumentException(
          "%d answers at temperature 0; they would all be the same".formatted(answers));
    }
  }

  public boolean isGreedy() {
    return temperature == 0;
  }

  /**
   * Returns a sampler for one answer.
   *
   * @param question index of the question in its task
   * @param answer index of the answer, from 0
   */
  Sampler sampler(int question, int answer) {
    return new Sampler(
        SamplingOptions.greedy().toBuilder()
            .temperature(temperature)
            .topP(topP)
            .seed(Seeds.of(seed, "answer", question, answer).nextLong())
            .build());
  }
}
