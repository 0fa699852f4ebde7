package dev.kvasir.lab.mead;

import dev.kvasir.Model;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Worksite;

/**
 * Makes up some texts side by side; none of them depends on the others.
 *
 * @param first number of the first one
 * @param length tokens of a text
 */
record TextMaking(int first, int count, int length, long seed) implements Piece<int[][]> {
  @Override
  public String name() {
    return "texts %d to %d".formatted(first + 1, first + count);
  }

  @Override
  public double work() {
    return (double) count * length;
  }

  @Override
  public long bytes(Model model) {
    return SelfMadeText.bytes(model.config().cacheShape(), count, length);
  }

  @Override
  public int[][] run(Worksite site, WorkListener listener) {
    return new SelfMadeText(site.model(), length, seed).texts(first, count, listener);
  }
}
