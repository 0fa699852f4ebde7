package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.page.BitCodes;
import dev.kvasir.page.StageCodes;
import dev.kvasir.profile.Profile;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The keys' codebooks and the values' encoders of a model for a bit width. The names after {@code
 * commvq:BITS,values=encoder/}, with width the channels of a token's values:
 *
 * <pre>
 * keys            (layers, kvHeads, stages, 64, keyDim)  halves, in the order of pairs
 * key-means       (layers, kvHeads, keyDim)              in the order of pairs
 * channel-scales  (layers, width)
 * gain, shift     (layers, width)
 * inner           (layers, hidden, width)                halves
 * inner-bias      (layers, hidden)
 * outer           (layers, 2 * token bits, hidden)       halves
 * outer-bias      (layers, 2 * token bits)
 * codebook        (layers, token bits, width)            halves
 * </pre>
 *
 * @param bits bits per channel
 * @param keys codebooks of all KV heads, by layer
 * @param encoders one for each layer
 */
public record EncoderProfile(
    int bits, List<List<KeyCodebook>> keys, List<EncoderWeights> encoders) {
  private static final int ROWS = AdditiveStages.ROWS;

  /** The header of a page has 16 bits for pairs. */
  private static final int MAX_BITS = 2 * 0xFFFF;

  public EncoderProfile {
    keys = keys.stream().map(List::copyOf).toList();
    encoders = List.copyOf(encoders);
  }

  /** Returns the name of the profile part for a bit width. */
  public static String part(int bits) {
    return CommvqProfile.part(bits) + ",values=encoder";
  }

  static CommvqShape shape(Profile profile, int bits, CacheShape shape) {
    return new Source(profile, part(bits), shape).pages();
  }

  static CommvqShape untrainedShape(int bits, CacheShape shape) {
    int stages = CommvqProfile.stages(bits, shape.keyDim());
    int tokenBits = BitPairs.bits(bits, shape.kvHeads() * shape.valueDim());
    return pages(shape, stages, tokenBits);
  }

  private static CommvqShape pages(CacheShape shape, int stages, int tokenBits) {
    return new CommvqShape(
        shape.kvHeads(),
        shape.keyDim(),
        new StageCodes(stages),
        shape.valueDim(),
        shape.kvHeads(),
        new BitCodes(tokenBits));
  }

  public static EncoderProfile of(Profile profile, int bits, CacheShape shape) {
    Source source = new Source(profile, part(bits), shape);
    CommvqShape pages = source.pages();
    List<List<KeyCodebook>> keys = new ArrayList<>();
    List<EncoderWeights> encoders = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> heads = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        heads.add(source.keys(pages, layer, head));
      }
      keys.add(heads);
      encoders.add(source.encoder(layer));
    }
    return new EncoderProfile(bits, keys, encoders);
  }

  static ModelCodebooks codebooks(
      Profile profile,
      int bits,
      CacheShape shape,
      LayerRotations rotations,
      SegmentAllocator memory) {
    EncoderProfile read = of(profile, bits, shape);
    return ModelCodebooks.ofEncoders(
        read.keys,
        read.encoders.stream()
            .map(weights -> ValueEncoder.of(weights, shape.kvHeads(), memory))
            .toList(),
        rotations);
  }

  static long bytes(Profile profile, int bits, CacheShape shape, LayerRotations rotations) {
    Source source = new Source(profile, part(bits), shape);
    CommvqShape pages = source.pages();
    long values = ValueEncoder.bytesFor(pages.groupDim(), source.hidden(), pages.values().sets());
    return shape.layers()
        * (shape.kvHeads() * ModelCodebooks.keyBytesFor(pages, rotations) + values);
  }

  /** Returns a profile in which this part replaces any previous one. */
  public Profile addTo(Profile profile) {
    String part = part(bits);
    long layers = encoders.size();
    KeyCodebook anyKeys = keys.getFirst().getFirst();
    EncoderWeights any = encoders.getFirst();
    long kvHeads = keys.getFirst().size();
    return profile
        .without(part)
        .withHalves(
            part + "/keys",
            keys.stream().flatMap(List::stream).map(KeyCodebook::numbers),
            layers,
            kvHeads,
            anyKeys.stages().stages(),
            ROWS,
            anyKeys.length())
        .with(
            part + "/key-means",
            keys.stream().flatMap(List::stream).map(KeyCodebook::mean),
            layers,
            kvHeads,
            anyKeys.length())
        .with(part + "/channel-scales", of(EncoderWeights::channelScales), layers, any.width())
        .with(part + "/gain", of(EncoderWeights::gain), layers, any.width())
        .with(part + "/shift", of(EncoderWeights::shift), layers, any.width())
        .withHalves(part + "/inner", of(EncoderWeights::inner), layers, any.hidden(), any.width())
        .with(part + "/inner-bias", of(EncoderWeights::innerBias), layers, any.hidden())
        .withHalves(
            part + "/outer", of(EncoderWeights::outer), layers, 2L * any.bits(), any.hidden())
        .with(part + "/outer-bias", of(EncoderWeights::outerBias), layers, 2L * any.bits())
        .withHalves(
            part + "/codebook", of(EncoderWeights::codebook), layers, any.bits(), any.width());
  }

  private Stream<float[]> of(Function<EncoderWeights, float[]> numbers) {
    return encoders.stream().map(numbers);
  }

  /** Reads the numbers of a model. Those of a layer fit in an array; all of them may not. */
  private record Source(Profile profile, String part, CacheShape shape) {
    CommvqShape pages() {
      long stages = dimension("keys", 5, 2);
      long bits = dimension("codebook", 3, 1);
      require("keys", shape.layers(), shape.kvHeads(), stages, ROWS, shape.keyDim());
      require("key-means", shape.layers(), shape.kvHeads(), shape.keyDim());
      for (String name : List.of("channel-scales", "gain", "shift")) {
        require(name, shape.layers(), width());
      }
      require("inner", shape.layers(), hidden(), width());
      require("inner-bias", shape.layers(), hidden());
      require("outer", shape.layers(), 2 * bits, hidden());
      require("outer-bias", shape.layers(), 2 * bits);
      require("codebook", shape.layers(), bits, width());
      if (2 * stages > Int8Codebooks.MAX_SETS || stages < 1) {
        throw outside("keys", "stages", stages, 1, Int8Codebooks.MAX_SETS / 2);
      }
      if (bits < 2 || bits > MAX_BITS || bits % 2 != 0) {
        throw outside("codebook", "rows", bits, 2, MAX_BITS);
      }
      return EncoderProfile.pages(shape, (int) stages, (int) bits);
    }

    private InvalidInputException outside(
        String name, String what, long found, int least, int most) {
      return new InvalidInputException(
          "%s: '%s' has %d %s; expected %d to %d, rows an even number"
              .formatted(profile.name(), key(name), found, what, least, most));
    }

    long hidden() {
      return dimension("inner-bias", 2, 1);
    }

    private long width() {
      return (long) shape.kvHeads() * shape.valueDim();
    }

    /** Returns a dimension that the model does not determine; 0 if it is missing. */
    private long dimension(String name, int count, int index) {
      return profile
          .shape(key(name))
          .filter(found -> found.length == count)
          .map(found -> found[index])
          .orElse(0L);
    }

    private String key(String name) {
      return part + "/" + name;
    }

    private void require(String name, long... expected) {
      profile.require(key(name), expected);
    }

    KeyCodebook keys(CommvqShape pages, int layer, int head) {
      long index = (long) layer * shape.kvHeads() + head;
      long numbers = (long) pages.keys().stages() * ROWS * shape.keyDim();
      return new KeyCodebook(
          slice("key-means", index, shape.keyDim()), slice("keys", index, numbers));
    }

    EncoderWeights encoder(int layer) {
      return new EncoderWeights(
          ofLayer("channel-scales", layer),
          ofLayer("gain", layer),
          ofLayer("shift", layer),
          ofLayer("inner", layer),
          ofLayer("inner-bias", layer),
          ofLayer("outer", layer),
          ofLayer("outer-bias", layer),
          ofLayer("codebook", layer));
    }

    private float[] ofLayer(String name, int layer) {
      long length = 1;
      long[] all = profile.shape(key(name)).orElseThrow();
      for (int i = 1; i < all.length; i++) {
        length = Math.multiplyExact(length, all[i]);
      }
      return slice(name, layer, length);
    }

    private float[] slice(String name, long index, long length) {
      long[] all = profile.shape(key(name)).orElseThrow();
      return profile.slice(key(name), index * length, length, all);
    }
  }
}
