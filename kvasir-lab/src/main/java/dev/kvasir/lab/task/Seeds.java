package dev.kvasir.lab.task;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Creates random generators that depend only on their purpose. */
public final class Seeds {
  private static final RandomGeneratorFactory<RandomGenerator> ALGORITHM =
      RandomGeneratorFactory.of("L64X128MixRandom");

  private Seeds() {}

  /**
   * Returns a generator for one sample of a task. Each sample has its own generator, so adding
   * samples or contexts does not change the others.
   */
  public static RandomGenerator of(long seed, String task, int context, int sample) {
    long mixed = mix(seed);
    for (int i = 0; i < task.length(); i++) {
      mixed = mix(mixed + task.charAt(i));
    }
    return ALGORITHM.create(mix(mix(mixed + context) + sample));
  }

  /** Applies one step and the finalizer of SplitMix64 (Steele, Lea and Flood, 2014). */
  private static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
