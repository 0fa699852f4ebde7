package dev.kvasir.lab.synthetic;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.Seeds;
import java.util.function.ToIntFunction;

/** Draws samples whose prompts fill a number of tokens. The same seed gives the same samples. */
public final class SizedSamples {
  private final SyntheticTask task;
  private final long seed;
  private final ToIntFunction<String> counter;

  /**
   * @param counter returns the tokens of a text
   */
  public SizedSamples(SyntheticTask task, long seed, ToIntFunction<String> counter) {
    this.task = task;
    this.seed = seed;
    this.counter = counter;
  }

  /** Returns the longest sample whose prompt takes at most {@code tokens}. */
  public SyntheticSample draw(int index, int tokens) {
    int fitting = 0;
    int tooMany = 2;
    while (fits(index, tooMany, tokens)) {
      fitting = tooMany;
      tooMany *= 2;
    }
    while (tooMany - fitting > 1) {
      int middle = (fitting + tooMany) / 2;
      if (fits(index, middle, tokens)) {
        fitting = middle;
      } else {
        tooMany = middle;
      }
    }
    if (fitting == 0) {
      throw new InvalidInputException(
          "the context is %d tokens; the shortest text of the task '%s' takes more"
              .formatted(tokens, task.label()));
    }
    return sample(index, fitting);
  }

  private boolean fits(int index, int entries, int tokens) {
    return counter.applyAsInt(sample(index, entries).prompt()) <= tokens;
  }

  private SyntheticSample sample(int index, int entries) {
    // The generator does not depend on the size, so that longer texts ask for the same fact.
    return task.draw(Seeds.of(seed, task.label(), 0, index), entries);
  }
}
