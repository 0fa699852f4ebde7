package dev.kvasir.codec;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A spec that shows what a {@link dev.kvasir.spi.QuantizationMethod} can do. The contract tests run
 * the examples of every registered method, so a new method is tested without a change to any test.
 *
 * @param spec as a user types it
 * @param traits exceptions to what the contract tests expect of a cache
 */
public record MethodExample(String spec, Set<Trait> traits) {
  /** A property of caches that a contract test has to know. */
  public enum Trait {
    /** Vectors whose channels are all equal do not come back exactly. */
    ALTERS_CONSTANTS,

    /** Encoding searches for codes, which takes seconds per page with wide heads. */
    SLOW_ENCODER,

    /** Pages that are restored from a mapped file are copied to memory. */
    COPIES_MAPPED_PAGES
  }

  public MethodExample {
    traits = Set.copyOf(traits);
  }

  /** Returns examples without exceptions. */
  public static List<MethodExample> of(String... specs) {
    return of(EnumSet.noneOf(Trait.class), specs);
  }

  /** Returns examples that share their traits. */
  public static List<MethodExample> of(Set<Trait> traits, String... specs) {
    return Arrays.stream(specs).map(spec -> new MethodExample(spec, traits)).toList();
  }

  public boolean has(Trait trait) {
    return traits.contains(trait);
  }
}
