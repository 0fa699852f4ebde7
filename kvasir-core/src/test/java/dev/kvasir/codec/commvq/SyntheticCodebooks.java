package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Codebooks of random rows, smaller from stage to stage like trained ones. */
public final class SyntheticCodebooks {
  private static final int ROWS = AdditiveStages.ROWS;

  private final SplittableRandom random = new SplittableRandom(71);
  private final CacheShape shape;

  private SyntheticCodebooks(CacheShape shape) {
    this.shape = shape;
  }

  /** Returns a profile with codebooks for each bit width. */
  public static Profile profile(CacheShape shape, int... widths) {
    Profile profile = Profile.empty("made up");
    for (int bits : widths) {
      profile = new SyntheticCodebooks(shape).of(bits).addTo(profile);
    }
    return profile;
  }

  private CommvqProfile of(int bits) {
    int keyDim = shape.keyDim();
    int valueDim = shape.valueDim();
    int keyStages = CommvqProfile.stages(bits, keyDim);
    int valueStages = CommvqProfile.stages(bits, valueDim);
    List<LayerCodebooks> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> keys = new ArrayList<>();
      List<ValueCodebook> values = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        keys.add(new KeyCodebook(gaussian(1, 1, keyDim), gaussian(keyStages, ROWS, keyDim)));
        float[] rows = gaussian(valueStages, 2 * ROWS, valueDim);
        values.add(
            new ValueCodebook(
                gaussian(1, 1, valueDim), new AdditiveStages(valueStages, valueDim, rows)));
      }
      layers.add(new LayerCodebooks(keys, values));
    }
    return new CommvqProfile(bits, layers);
  }

  /** Returns numbers (stages, count, channels). */
  private float[] gaussian(int stages, int count, int channels) {
    int block = count * channels;
    float[] numbers = new float[stages * block];
    for (int stage = 0; stage < stages; stage++) {
      double size = Math.pow(0.8, stage) / Math.sqrt(shape.kvHeads() * channels);
      for (int i = stage * block; i < (stage + 1) * block; i++) {
        numbers[i] = (float) (size * random.nextGaussian());
      }
    }
    return numbers;
  }
}
