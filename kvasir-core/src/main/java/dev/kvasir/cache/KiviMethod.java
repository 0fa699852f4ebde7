package dev.kvasir.cache;

import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.HeadShape;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Uniform codes, keys by channel and values by token. */
record KiviMethod(int keyBits, int valueBits, int group, int window, int sinks, Lookups lookups)
    implements CacheMethod {
  private static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4, 8));
  private static final SortedSet<Integer> GROUPS = new TreeSet<>(Set.of(32, 64, 128));
  private static final int MOST_CHANNELS = 256;
  private static final int DEFAULT_GROUP = 128;
  private static final int DEFAULT_WINDOW = 128;

  static KiviMethod of(SpecText spec) {
    spec.requireKeys("k", "v", "group", "window", "sinks", "lookup");
    boolean both = spec.has("k") && spec.has("v");
    int bits = both && !spec.hasBits() ? 0 : spec.bits(BITS);
    return new KiviMethod(
        spec.oneOf("k", bits, BITS),
        spec.oneOf("v", bits, BITS),
        spec.oneOf("group", DEFAULT_GROUP, GROUPS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", 0),
        spec.choice("lookup", Lookups.EXACT));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    if (shape.headDim() % 4 != 0 || shape.headDim() > MOST_CHANNELS) {
      throw new InvalidInputException(
          "the cache 'kivi' cannot pack heads of %d channels; expected a multiple of 4 up to %d"
              .formatted(shape.headDim(), MOST_CHANNELS));
    }
    HeadShape head = HeadShape.uniform(shape.headDim(), keyBits, group, valueBits, group);
    KiviCodec codec = new KiviCodec(shape.kvHeads(), head);
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec), lookups);
  }
}
