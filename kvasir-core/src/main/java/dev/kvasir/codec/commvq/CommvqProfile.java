package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.page.StageCodes;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The codebooks of a model for a bit width. Every width is a separate profile part, so a profile
 * may contain several.
 *
 * <pre>
 * commvq:BITS/keys         (layers, kvHeads, stages, rows, keyDim)         halves, in the order of pairs
 * commvq:BITS/key-means    (layers, kvHeads, keyDim)                       in the order of pairs
 * commvq:BITS/values       (layers, groups, stages, 2, rows, heads * valueDim)  halves
 * commvq:BITS/value-means  (layers, kvHeads, valueDim)
 * </pre>
 *
 * The number of stages, of rows in a set (16, 32 or 64) and of KV heads in a group of values are
 * those of the stored shapes. A profile whose values were trained by head has groups of one head.
 *
 * @param bits nominal bits; the number of stages makes it slightly more or less
 * @param layers one for each layer
 */
public record CommvqProfile(int bits, List<LayerCodebooks> layers) {
  /** Numbers of rows that a set may have. */
  public static final Set<Integer> ROWS = Set.of(16, 32, AdditiveStages.ROWS);

  public CommvqProfile {
    layers = List.copyOf(layers);
  }

  /** Returns the name of the profile part for a bit width. */
  public static String part(int bits) {
    return "commvq:" + bits;
  }

  /** Returns the number of 12-bit stages that comes nearest to the given bits per channel. */
  public static int stages(int bits, int headDim) {
    return stages(bits, headDim, AdditiveStages.ROWS);
  }

  /**
   * Returns the number of stages that comes nearest to the given bits per channel.
   *
   * @param rows of a set, a power of two
   */
  public static int stages(int bits, int channels, int rows) {
    int codeBits = 2 * Integer.numberOfTrailingZeros(rows);
    return Math.max(1, Math.round((float) bits * channels / codeBits));
  }

  /** Returns the layout of pages with a profile's codebooks; rejects codebooks of other shapes. */
  static CommvqShape shape(Profile profile, int bits, CacheShape shape) {
    return new Source(profile, part(bits), shape).pages();
  }

  public static CommvqProfile of(Profile profile, int bits, CacheShape shape) {
    Source source = new Source(profile, part(bits), shape);
    CommvqShape pages = source.pages();
    List<LayerCodebooks> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> keys = new ArrayList<>();
      List<ValueCodebook> values = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        keys.add(source.keys(pages, layer, head));
      }
      for (int group = 0; group < pages.groups(); group++) {
        values.add(source.values(pages, layer, group));
      }
      layers.add(new LayerCodebooks(keys, values));
    }
    return new CommvqProfile(bits, layers);
  }

  /** Reads a model's codebooks. Those of a head fit in an array; all of them may not. */
  private record Source(Profile profile, String part, CacheShape shape) {
    CommvqShape pages() {
      long[] keys = dimensions("keys", 5);
      long[] values = dimensions("values", 6);
      int heads = (int) (values[1] > 0 ? shape.kvHeads() / values[1] : 0);
      require("keys", shape.layers(), shape.kvHeads(), keys[2], rows(keys[3]), shape.keyDim());
      require(
          "values",
          shape.layers(),
          heads > 0 ? shape.kvHeads() / heads : shape.kvHeads(),
          values[2],
          2,
          rows(values[4]),
          (long) Math.max(1, heads) * shape.valueDim());
      require("key-means", shape.layers(), shape.kvHeads(), shape.keyDim());
      require("value-means", shape.layers(), shape.kvHeads(), shape.valueDim());
      return new CommvqShape(
          shape.kvHeads(),
          shape.keyDim(),
          codes("keys", keys[2], keys[3], Int8Codebooks.MAX_SETS / 2),
          shape.valueDim(),
          heads,
          codes("values", values[2], values[4], Short.MAX_VALUE));
    }

    private long[] dimensions(String name, int count) {
      long[] found = profile.shape(key(name)).orElseGet(() -> new long[count]);
      return found.length == count ? found : new long[count];
    }

    private static long rows(long found) {
      return found <= AdditiveStages.ROWS && ROWS.contains((int) found)
          ? found
          : AdditiveStages.ROWS;
    }

    private StageCodes codes(String name, long stages, long rows, int maxStages) {
      if (stages < 1 || stages > maxStages) {
        throw new InvalidInputException(
            "%s: '%s' has %d stages; expected 1 to %d"
                .formatted(profile.name(), key(name), stages, maxStages));
      }
      return new StageCodes((int) stages, Long.numberOfTrailingZeros(rows));
    }

    private void require(String name, long... expected) {
      profile.require(key(name), expected);
    }

    private String key(String name) {
      return part + "/" + name;
    }

    KeyCodebook keys(CommvqShape pages, int layer, int head) {
      int used = 1 << pages.keys().indexBits();
      int index = layer * shape.kvHeads() + head;
      float[] numbers = slice("keys", index, pages.keys().stages(), used, shape.keyDim());
      float[] mean = slice("key-means", index, 1, 1, shape.keyDim());
      return new KeyCodebook(mean, used, padded(numbers, used, shape.keyDim()));
    }

    ValueCodebook values(CommvqShape pages, int layer, int group) {
      int used = 1 << pages.values().indexBits();
      int index = layer * pages.groups() + group;
      int channels = pages.groupDim();
      float[] numbers = slice("values", index, pages.values().sets(), used, channels);
      float[] mean = slice("value-means", index, 1, 1, channels);
      return new ValueCodebook(
          pages.valueHeads(),
          mean,
          new AdditiveStages(
              pages.values().sets() / 2, channels, used, padded(numbers, used, channels)));
    }

    /** Returns one of the equal parts of the numbers under a name. */
    private float[] slice(String name, long index, long sets, long rows, long channels) {
      long length = sets * rows * channels;
      long[] all = profile.shape(key(name)).orElseThrow();
      return profile.slice(key(name), index * length, length, all);
    }
  }

  /** Returns sets (sets, used, channels) with zero rows appended to each: (sets, 64, channels). */
  private static float[] padded(float[] numbers, int used, int channels) {
    return resized(numbers, used * channels, AdditiveStages.ROWS * channels);
  }

  /** Returns the used rows of sets (sets, 64, channels): (sets, used, channels). */
  private static float[] usedRows(float[] numbers, int used, int channels) {
    return resized(numbers, AdditiveStages.ROWS * channels, used * channels);
  }

  private static float[] resized(float[] sets, int from, int to) {
    if (from == to) {
      return sets;
    }
    float[] out = new float[sets.length / from * to];
    for (int set = 0; set < sets.length / from; set++) {
      System.arraycopy(sets, set * from, out, set * to, Math.min(from, to));
    }
    return out;
  }

  /** Returns a profile in which this part replaces any previous one. */
  public Profile addTo(Profile profile) {
    CommvqShape shape = layers.getFirst().shape();
    int keyRows = 1 << shape.keys().indexBits();
    int valueRows = 1 << shape.values().indexBits();
    long count = layers.size();
    String part = part(bits);
    return profile
        .without(part)
        .withHalves(
            part + "/keys",
            keys().map(book -> usedRows(book.numbers(), keyRows, shape.keyDim())),
            count,
            shape.kvHeads(),
            shape.keys().stages(),
            keyRows,
            shape.keyDim())
        .with(
            part + "/key-means",
            keys().map(KeyCodebook::mean),
            count,
            shape.kvHeads(),
            shape.keyDim())
        .withHalves(
            part + "/values",
            values().map(book -> usedRows(book.stages().rows(), valueRows, shape.groupDim())),
            count,
            shape.groups(),
            shape.values().sets() / 2,
            2,
            valueRows,
            shape.groupDim())
        .with(
            part + "/value-means",
            values().map(ValueCodebook::mean),
            count,
            shape.kvHeads(),
            shape.valueDim());
  }

  private Stream<KeyCodebook> keys() {
    return layers.stream().flatMap(layer -> layer.keys().stream());
  }

  private Stream<ValueCodebook> values() {
    return layers.stream().flatMap(layer -> layer.values().stream());
  }
}
