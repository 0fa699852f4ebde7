package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The codebooks of a model for a bit width. Every width is a separate profile part, so a profile
 * may contain several.
 *
 * <pre>
 * commvq:BITS/keys         (layers, kvHeads, stages, 64, keyDim)       halves, in the order of pairs
 * commvq:BITS/key-means    (layers, kvHeads, keyDim)                   in the order of pairs
 * commvq:BITS/values       (layers, kvHeads, stages, 2, 64, valueDim)  halves
 * commvq:BITS/value-means  (layers, kvHeads, valueDim)
 * </pre>
 *
 * @param bits nominal bits; the number of stages makes it slightly more or less
 * @param layers one for each layer
 */
public record CommvqProfile(int bits, List<LayerCodebooks> layers) {
  private static final int ROWS = AdditiveStages.ROWS;

  public CommvqProfile {
    layers = List.copyOf(layers);
  }

  /** Returns the name of the profile part for a bit width. */
  public static String part(int bits) {
    return "commvq:" + bits;
  }

  /** Returns the number of 12-bit stages that comes nearest to the given bits per channel. */
  public static int stages(int bits, int headDim) {
    return Math.max(1, Math.round((float) bits * headDim / AdditiveStages.CODE_BITS));
  }

  /** Rejects a profile whose codebooks have other dimensions. */
  static void require(Profile profile, int bits, CacheShape shape) {
    Source source = new Source(profile, part(bits), shape);
    source.require("keys", keyShape(bits, shape));
    source.require("key-means", shape.keyDim());
    source.require("values", valueShape(bits, shape));
    source.require("value-means", shape.valueDim());
  }

  private static long[] keyShape(int bits, CacheShape shape) {
    return new long[] {stages(bits, shape.keyDim()), ROWS, shape.keyDim()};
  }

  private static long[] valueShape(int bits, CacheShape shape) {
    return new long[] {stages(bits, shape.valueDim()), 2, ROWS, shape.valueDim()};
  }

  public static CommvqProfile of(Profile profile, int bits, CacheShape shape) {
    Source source = new Source(profile, part(bits), shape);
    int valueStages = stages(bits, shape.valueDim());
    Heads keys = source.heads("keys", keyShape(bits, shape));
    Heads keyMeans = source.heads("key-means", shape.keyDim());
    Heads values = source.heads("values", valueShape(bits, shape));
    Heads valueMeans = source.heads("value-means", shape.valueDim());
    List<LayerCodebooks> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> ofKeys = new ArrayList<>();
      List<ValueCodebook> ofValues = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        ofKeys.add(new KeyCodebook(keyMeans.of(layer, head), keys.of(layer, head)));
        AdditiveStages rows =
            new AdditiveStages(valueStages, shape.valueDim(), values.of(layer, head));
        ofValues.add(new ValueCodebook(valueMeans.of(layer, head), rows));
      }
      layers.add(new LayerCodebooks(ofKeys, ofValues));
    }
    return new CommvqProfile(bits, layers);
  }

  /** Reads the numbers of a model's heads. */
  private record Source(Profile profile, String part, CacheShape shape) {
    void require(String name, long... ofHead) {
      profile.require(part + "/" + name, ofAll(ofHead));
    }

    Heads heads(String name, long... ofHead) {
      require(name, ofHead);
      long length = Arrays.stream(ofHead).reduce(1, Math::multiplyExact);
      return new Heads(profile, part + "/" + name, shape.kvHeads(), length, ofAll(ofHead));
    }

    private long[] ofAll(long[] ofHead) {
      long[] all = new long[2 + ofHead.length];
      all[0] = shape.layers();
      all[1] = shape.kvHeads();
      System.arraycopy(ofHead, 0, all, 2, ofHead.length);
      return all;
    }
  }

  /**
   * An equal count of numbers for every head of every layer. Those of a head fit in an array; all
   * of them together may not.
   */
  private record Heads(Profile profile, String key, int kvHeads, long length, long[] all) {
    float[] of(int layer, int head) {
      return profile.slice(key, ((long) layer * kvHeads + head) * length, length, all);
    }
  }

  /** Returns a profile in which this part replaces any previous one. */
  public Profile addTo(Profile profile) {
    KeyCodebook anyKeys = layers.getFirst().keys().getFirst();
    ValueCodebook anyValues = layers.getFirst().values().getFirst();
    long kvHeads = layers.getFirst().keys().size();
    long count = layers.size();
    String part = part(bits);
    List<KeyCodebook> keys = layers.stream().flatMap(layer -> layer.keys().stream()).toList();
    List<ValueCodebook> values = layers.stream().flatMap(layer -> layer.values().stream()).toList();
    return profile
        .without(part)
        .withHalves(
            part + "/keys",
            keys.stream().map(KeyCodebook::numbers),
            count,
            kvHeads,
            anyKeys.stages().stages(),
            ROWS,
            anyKeys.headDim())
        .with(
            part + "/key-means",
            keys.stream().map(KeyCodebook::mean),
            count,
            kvHeads,
            anyKeys.headDim())
        .withHalves(
            part + "/values",
            values.stream().map(book -> book.stages().rows()),
            count,
            kvHeads,
            anyValues.stages().stages(),
            2,
            ROWS,
            anyValues.headDim())
        .with(
            part + "/value-means",
            values.stream().map(ValueCodebook::mean),
            count,
            kvHeads,
            anyValues.headDim());
  }
}
