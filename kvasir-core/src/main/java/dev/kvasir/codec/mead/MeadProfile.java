package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What calibration learned about a model with one kind of tables. Each kind is a part of a profile:
 * {@code mead:tokens}, {@code mead:centroids}, {@code mead:off}.
 *
 * <pre>
 * PART/key-weights    (layers, kvHeads, keyDim)
 * PART/value-to       (layers, kvHeads, valueDim, valueDim)
 * PART/value-from     (layers, kvHeads, valueDim, valueDim)
 * PART/deviations     (layers, kvHeads, 3, keyDim + valueDim)
 * PART/class-weights  (layers, kvHeads, 3, 2)
 * PART/energy-deviations  (layers, kvHeads, 3, keyDim + valueDim)  absent in older profiles
 * PART/energy-weights     (layers, kvHeads, 3, 2)                  absent in older profiles
 * PART/importance     (layers, kvHeads, 2, 8)
 * PART/mean-units     (layers, kvHeads, valueDim)
 * PART/lows           (layers, kvHeads, keyDim + valueDim)
 * PART/steps          (layers, kvHeads, keyDim + valueDim)
 * PART/rows           (layers, kvHeads, rows, words)  words of four nibbles, as many as keys and values need
 * PART/token-rows     (vocabulary)                    row of each token id; mead:tokens only
 * </pre>
 *
 * @param heads by layer and KV head
 * @param tokenRows (vocabulary); empty unless rows belong to token ids
 */
public record MeadProfile(TableKind kind, List<List<HeadProfile>> heads, int[] tokenRows) {
  private static final String ENERGY_DEVIATIONS = "energy-deviations";
  private static final String ENERGY_WEIGHTS = "energy-weights";

  /**
   * Contrast of energy tiers relative to attention tiers. Tokens with large residuals are rare ones
   * such as names and numbers, which questions ask for.
   */
  private static final double ENERGY_CONTRAST = 2;

  private record PartNames(String part) {
    String of(String name) {
      return part + "/" + name;
    }
  }

  static boolean isPresent(Profile profile, TableKind kind) {
    return profile.has(kind.part());
  }

  /** Returns the number of rows of each head's table. */
  static int rows(Profile profile, TableKind kind, CacheShape shape) {
    String key = new PartNames(kind.part()).of("rows");
    int words = HeadProfile.words(shape.keyDim()) + HeadProfile.words(shape.valueDim());
    long[] found = profile.shape(key).orElse(new long[0]);
    long rows = found.length == 4 ? found[2] : 1;
    profile.requireWords(key, shape.layers(), shape.kvHeads(), rows, words);
    return Math.toIntExact(rows);
  }

  static MeadProfile of(Profile profile, TableKind kind, CacheShape shape) {
    PartNames names = new PartNames(kind.part());
    int rows = rows(profile, kind, shape);
    int words = HeadProfile.words(shape.keyDim()) + HeadProfile.words(shape.valueDim());
    HeadReader reader = new HeadReader(profile, names, shape);
    int both = shape.keyDim() + shape.valueDim();
    int valueDim = shape.valueDim();
    List<List<HeadProfile>> heads =
        IntStream.range(0, shape.layers())
            .mapToObj(
                layer ->
                    IntStream.range(0, shape.kvHeads())
                        .mapToObj(
                            head ->
                                new HeadProfile(
                                    reader.floats("key-weights", layer, head, shape.keyDim()),
                                    reader.floats("value-to", layer, head, valueDim, valueDim),
                                    reader.floats("value-from", layer, head, valueDim, valueDim),
                                    reader.attentionTiers(layer, head, both),
                                    reader.energyTiers(layer, head, both),
                                    reader.floats(
                                        "importance",
                                        layer,
                                        head,
                                        KvSide.COUNT,
                                        HeadProfile.RANK_BUCKETS),
                                    reader.floats("mean-units", layer, head, valueDim),
                                    reader.floats("lows", layer, head, both),
                                    reader.floats("steps", layer, head, both),
                                    reader.words("rows", layer, head, rows, words)))
                        .toList())
            .toList();
    return new MeadProfile(kind, heads, tokenRows(profile, names, kind, rows));
  }

  private static int[] tokenRows(Profile profile, PartNames names, TableKind kind, int rows) {
    if (kind != TableKind.TOKENS) {
      return new int[0];
    }
    String key = names.of("token-rows");
    long[] shape = profile.shape(key).orElse(new long[] {0});
    float[] numbers = profile.floats(key, shape[0]);
    int[] found = new int[numbers.length];
    for (int id = 0; id < found.length; id++) {
      found[id] = (int) numbers[id];
      if (found[id] != numbers[id] || found[id] < 0 || found[id] >= rows) {
        throw new InvalidInputException(
            "%s: '%s' has row %s for token %d; expected 0 to %d"
                .formatted(profile.name(), key, numbers[id], id, rows - 1));
      }
    }
    return found;
  }

  /** Reads the arrays of one head. */
  private record HeadReader(Profile profile, PartNames names, CacheShape shape) {
    float[] floats(String name, int layer, int head, long... ofHead) {
      long length = length(ofHead);
      return profile.slice(names.of(name), first(layer, head) * length, length, all(ofHead));
    }

    TierStatistics attentionTiers(int layer, int head, int both) {
      return tiers("deviations", "class-weights", layer, head, both);
    }

    /** Estimates the statistics from those of attention tiers in profiles that lack them. */
    TierStatistics energyTiers(int layer, int head, int both) {
      return profile.shape(names.of(ENERGY_WEIGHTS)).isPresent()
          ? tiers(ENERGY_DEVIATIONS, ENERGY_WEIGHTS, layer, head, both)
          : attentionTiers(layer, head, both).withContrast(ENERGY_CONTRAST);
    }

    private TierStatistics tiers(String deviations, String weights, int layer, int head, int both) {
      return new TierStatistics(
          floats(deviations, layer, head, SaliencyTier.COUNT, both),
          floats(weights, layer, head, SaliencyTier.COUNT, KvSide.COUNT));
    }

    short[] words(String name, int layer, int head, long... ofHead) {
      long length = length(ofHead);
      return profile.words(names.of(name), first(layer, head) * length, length, all(ofHead));
    }

    private long first(int layer, int head) {
      return (long) layer * shape.kvHeads() + head;
    }

    private static long length(long[] ofHead) {
      return Arrays.stream(ofHead).reduce(1, Math::multiplyExact);
    }

    private long[] all(long[] ofHead) {
      long[] all = new long[2 + ofHead.length];
      all[0] = shape.layers();
      all[1] = shape.kvHeads();
      System.arraycopy(ofHead, 0, all, 2, ofHead.length);
      return all;
    }
  }

  /** Returns the profile with this part added or replaced. */
  public Profile addTo(Profile profile, CacheShape shape) {
    PartNames names = new PartNames(kind.part());
    long layers = shape.layers();
    long kvHeads = shape.kvHeads();
    long both = shape.keyDim() + shape.valueDim();
    long valueDim = shape.valueDim();
    int words = HeadProfile.words(shape.keyDim()) + HeadProfile.words(shape.valueDim());
    long rows = heads.getFirst().getFirst().rows().length / words;
    Profile with =
        profile
            .without(kind.part())
            .with(
                names.of("key-weights"),
                all(HeadProfile::keyWeights),
                layers,
                kvHeads,
                shape.keyDim())
            .with(
                names.of("value-to"),
                all(HeadProfile::valueTo),
                layers,
                kvHeads,
                valueDim,
                valueDim)
            .with(
                names.of("value-from"),
                all(HeadProfile::valueFrom),
                layers,
                kvHeads,
                valueDim,
                valueDim)
            .with(
                names.of("deviations"),
                all(head -> head.attentionTiers().deviations()),
                layers,
                kvHeads,
                SaliencyTier.COUNT,
                both)
            .with(
                names.of("class-weights"),
                all(head -> head.attentionTiers().weights()),
                layers,
                kvHeads,
                SaliencyTier.COUNT,
                KvSide.COUNT)
            .with(
                names.of(ENERGY_DEVIATIONS),
                all(head -> head.energyTiers().deviations()),
                layers,
                kvHeads,
                SaliencyTier.COUNT,
                both)
            .with(
                names.of(ENERGY_WEIGHTS),
                all(head -> head.energyTiers().weights()),
                layers,
                kvHeads,
                SaliencyTier.COUNT,
                KvSide.COUNT)
            .with(
                names.of("importance"),
                all(HeadProfile::importance),
                layers,
                kvHeads,
                KvSide.COUNT,
                HeadProfile.RANK_BUCKETS)
            .with(names.of("mean-units"), all(HeadProfile::meanUnits), layers, kvHeads, valueDim)
            .with(names.of("lows"), all(HeadProfile::lows), layers, kvHeads, both)
            .with(names.of("steps"), all(HeadProfile::steps), layers, kvHeads, both)
            .withWords(
                names.of("rows"),
                heads.stream().flatMap(List::stream).map(HeadProfile::rows),
                layers,
                kvHeads,
                rows,
                words);
    if (tokenRows.length == 0) {
      return with;
    }
    float[] numbers = new float[tokenRows.length];
    for (int id = 0; id < numbers.length; id++) {
      numbers[id] = tokenRows[id];
    }
    return with.with(names.of("token-rows"), numbers, numbers.length);
  }

  private Stream<float[]> all(Function<HeadProfile, float[]> numbers) {
    return heads.stream().flatMap(List::stream).map(numbers);
  }

  /**
   * Keys and values of the first layer by token id and KV head, which depend on the token alone.
   * Keys are in pair order, before RoPE.
   *
   * <pre>
   * mead:first/keys    (vocabulary, kvHeads, keyDim)    halves
   * mead:first/values  (vocabulary, kvHeads, valueDim)  halves
   * </pre>
   */
  public record FirstLayer(int vocabulary, float[] keys, float[] values) {
    /** Name of the profile part. */
    public static final String PART = "mead:first";

    /**
     * Returns the number of token ids in the profile's first-layer part; empty without such a part.
     */
    static Optional<Integer> vocabulary(Profile profile, CacheShape shape) {
      return profile
          .shape(PART + "/keys")
          .map(
              found -> {
                long tokens = found[0];
                profile.require(PART + "/keys", tokens, shape.kvHeads(), shape.keyDim());
                profile.require(PART + "/values", tokens, shape.kvHeads(), shape.valueDim());
                return Math.toIntExact(tokens);
              });
    }

    static FirstLayer of(Profile profile, CacheShape shape) {
      int tokens = vocabulary(profile, shape).orElseThrow();
      return new FirstLayer(
          tokens,
          profile.floats(PART + "/keys", tokens, shape.kvHeads(), shape.keyDim()),
          profile.floats(PART + "/values", tokens, shape.kvHeads(), shape.valueDim()));
    }

    /** Returns the profile with this part added or replaced. */
    public Profile addTo(Profile profile, CacheShape shape) {
      return profile
          .without(PART)
          .withHalves(PART + "/keys", keys, vocabulary, shape.kvHeads(), shape.keyDim())
          .withHalves(PART + "/values", values, vocabulary, shape.kvHeads(), shape.valueDim());
    }
  }
}
