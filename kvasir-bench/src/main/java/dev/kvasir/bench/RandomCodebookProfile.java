package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
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
    Profile keys = with(profile, part + "keys", stages, rows, shape.headDim());
    Profile values = with(keys, part + "values", stages, 2, rows, shape.headDim());
    return with(
        with(values, part + "key-means", shape.headDim()), part + "value-means", shape.headDim());
  }

  private Profile with(Profile profile, String key, long... ofHead) {
    long[] all = new long[2 + ofHead.length];
    all[0] = shape.layers();
    all[1] = shape.kvHeads();
    System.arraycopy(ofHead, 0, all, 2, ofHead.length);
    long length = Arrays.stream(ofHead).reduce(1, Math::multiplyExact);
    Stream<float[]> heads =
        Stream.generate(() -> numbers((int) length)).limit((long) shape.layers() * shape.kvHeads());
    return profile.withHalves(key, heads, all);
  }

  private float[] numbers(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextDouble(-0.1, 0.1);
    }
    return numbers;
  }
}
