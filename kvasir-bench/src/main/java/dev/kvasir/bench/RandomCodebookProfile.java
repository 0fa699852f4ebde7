package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
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
  private final int valueHeads;

  private RandomCodebookProfile(CacheShape shape, int valueHeads) {
    this.shape = shape;
    this.valueHeads = valueHeads;
  }

  /**
   * Returns a profile with codebooks of every width.
   *
   * @param valueHeads KV heads whose values share codes
   */
  static Profile profile(CacheShape shape, int valueHeads) {
    Profile profile = Profile.empty("random");
    for (int bits = 1; bits <= MAX_BITS; bits++) {
      profile = new RandomCodebookProfile(shape, valueHeads).with(profile, bits);
    }
    return profile;
  }

  /**
   * Returns codebooks of one width, the same in all layers.
   *
   * @param valueHeads KV heads whose values share codes
   */
  static ModelCodebooks model(
      AttentionShape heads, int valueHeads, int layers, int bits, Rotation rotation) {
    CacheShape shape = new CacheShape(1, heads.kvHeads(), heads.headDim());
    Profile profile =
        new RandomCodebookProfile(shape, valueHeads).with(Profile.empty("random"), bits);
    ModelCodebooks one =
        ModelCodebooks.of(
            CommvqProfile.of(profile, bits, shape).layers(),
            LayerRotations.ofAll(rotation),
            Arena.ofAuto());
    return new ModelCodebooks(
        Collections.nCopies(layers, one.layers().getFirst()),
        Collections.nCopies(layers, one.rows().getFirst()),
        one.encoders(),
        one.rotations(),
        one.keyDim());
  }

  private Profile with(Profile profile, int bits) {
    String part = CommvqProfile.part(bits) + "/";
    int keyDim = shape.keyDim();
    int valueDim = shape.valueDim();
    int kvHeads = shape.kvHeads();
    int rows = AdditiveStages.ROWS;
    int keyStages = CommvqProfile.stages(bits, keyDim);
    int valueStages = valueHeads * CommvqProfile.stages(bits, valueDim);
    int groups = kvHeads / valueHeads;
    Profile keys = with(profile, part + "keys", kvHeads, keyStages, rows, keyDim);
    Profile keyMeans = with(keys, part + "key-means", kvHeads, keyDim);
    Profile values =
        with(keyMeans, part + "values", groups, valueStages, 2, rows, valueHeads * valueDim);
    return with(values, part + "value-means", kvHeads, valueDim);
  }

  /**
   * @param count codebooks of a layer
   */
  private Profile with(Profile profile, String key, int count, long... ofEach) {
    long[] all = new long[2 + ofEach.length];
    all[0] = shape.layers();
    all[1] = count;
    System.arraycopy(ofEach, 0, all, 2, ofEach.length);
    long length = Arrays.stream(ofEach).reduce(1, Math::multiplyExact);
    Stream<float[]> books =
        Stream.generate(() -> numbers((int) length)).limit((long) shape.layers() * count);
    return profile.withHalves(key, books, all);
  }

  private float[] numbers(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextDouble(-0.1, 0.1);
    }
    return numbers;
  }
}
