package dev.kvasir.lab.dataset;

import dev.kvasir.lab.synthetic.SizedSamples;
import dev.kvasir.lab.synthetic.SyntheticSample;
import dev.kvasir.lab.synthetic.SyntheticTask;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/** Generated tasks as items. */
public final class SyntheticItems {
  private SyntheticItems() {}

  /**
   * @param tokens longest prompt and answer together
   * @param counter returns the tokens of a text
   */
  public static List<Item> of(
      SyntheticTask task, long seed, int count, int tokens, ToIntFunction<String> counter) {
    SizedSamples samples = new SizedSamples(task, seed, counter);
    return IntStream.range(0, count)
        .mapToObj(i -> item(task, i, samples.draw(i, tokens - task.answerTokens())))
        .toList();
  }

  private static Item item(SyntheticTask task, int index, SyntheticSample sample) {
    return new Item(
        "%s %d".formatted(task.label(), index),
        sample.prompt(),
        false,
        task.answerTokens(),
        List.of(answer -> Judge.Mark.of(sample.score(answer))),
        answer -> sample.score(answer) == 1);
  }
}
