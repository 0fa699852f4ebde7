package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.profile.Profile;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Collections;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Random codebooks, which cost as much as trained ones. */
final class RandomCodebookProfile {
  private static final int MAX_BITS = 4;

  private final SplittableRandom random = new SplittableRandom(3);
  private final CacheShape shape;

  private RandomCodebookProfile(CacheShape shape) {
    this.shape = shape;
  }

  /** Returns a profile with codebooks of every width. */
  static Profile profile(CacheShape shape) {
    Profile profile = Profile.empty("random");
    for (int bits = 1; bits <= MAX_BITS; bits++) {
      profile = new RandomCodebookProfile(shape).with(profile, bits);
    }
    return profile;
  }

  /** Returns codebooks of one width, the same in all layers. */
  static ModelCodebooks model(AttentionShape heads, int layers, int bits, Rotation rotation) {
    CacheShape shape = new CacheShape(1, heads.kvHeads(), heads.headDim());
    Profile profile = new RandomCodebookProfile(shape).with(Profile.empty("random"), bits);
    ModelCodebooks one =
        ModelCodebooks.of(
            CommvqProfile.of(profile, bits, shape).layers(), rotation, Arena.ofAuto());
    return new ModelCodebooks(
        Collections.nCopies(layers, one.layers().getFirst()),
        Collections.nCopies(layers, one.rows().getFirst()),
        one.encoders(),
        rotation,
        one.order());
  }

  private Profile with(Profile profile, int bits) {
    String part = CommvqProfile.part(bits) + "/";
    int stages = CommvqProfile.stages(bits, shape.headDim());
    int rows = AdditiveStages.ROWS;
    int headDim = shape.headDim();
    int heads = CommvqShape.defaultValueHeads(shape.kvHeads(), headDim);
    Profile keys = with(profile, part + "keys", 1, stages, rows, headDim);
    Profile values = with(keys, part + "values", heads, heads * stages, 2, rows, heads * headDim);
    return with(with(values, part + "key-means", 1, headDim), part + "value-means", 1, headDim);
  }

  /**
   * Adds random numbers.
   *
   * @param heads KV heads that share a codebook
   */
  private Profile with(Profile profile, String key, int heads, long... ofCodebook) {
    long[] all = new long[2 + ofCodebook.length];
    all[0] = shape.layers();
    all[1] = shape.kvHeads() / heads;
    System.arraycopy(ofCodebook, 0, all, 2, ofCodebook.length);
    long length = Arrays.stream(ofCodebook).reduce(1, Math::multiplyExact);
    Stream<float[]> codebooks = Stream.generate(() -> numbers((int) length)).limit(all[0] * all[1]);
    return profile.withHalves(key, codebooks, all);
  }

  private float[] numbers(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextDouble(-0.1, 0.1);
    }
    return numbers;
  }
}
