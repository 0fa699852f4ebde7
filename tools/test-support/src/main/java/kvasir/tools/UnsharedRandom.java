package kvasir.tools;

import java.util.Random;

/**
 * The numbers of {@link Random} for one thread, without an atomic operation for each: models of
 * random weights take millions.
 */
public final class UnsharedRandom extends Random {
  private static final long serialVersionUID = 1;
  private static final long MULTIPLIER = 0x5DEECE66DL;
  private static final long MASK = (1L << 48) - 1;

  private long state;

  public UnsharedRandom(long seed) {
    super(seed); // calls setSeed
  }

  @Override
  public void setSeed(long seed) {
    super.setSeed(seed);
    state = (seed ^ MULTIPLIER) & MASK;
  }

  @Override
  protected int next(int bits) {
    state = state * MULTIPLIER + 0xB & MASK;
    return (int) (state >>> 48 - bits);
  }
}
