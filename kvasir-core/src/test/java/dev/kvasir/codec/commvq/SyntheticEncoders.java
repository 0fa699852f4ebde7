package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Value encoders of random numbers, and the keys of {@link SyntheticCodebooks}. */
public final class SyntheticEncoders {
  private static final int HIDDEN = 24;

  private SyntheticEncoders() {}

  /** Returns a profile with encoders, whose keys are those that it has for the bit width. */
  static Profile addTo(Profile profile, CacheShape shape, int bits) {
    SplittableRandom random = new SplittableRandom(72);
    int width = shape.kvHeads() * shape.valueDim();
    List<List<KeyCodebook>> keys =
        CommvqProfile.of(profile, bits, shape).layers().stream().map(LayerCodebooks::keys).toList();
    List<EncoderWeights> encoders = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      encoders.add(weights(random, width, HIDDEN, BitPairs.bits(bits, width)));
    }
    return new EncoderProfile(bits, keys, encoders).addTo(profile);
  }

  /** Returns a network of random numbers. */
  public static EncoderWeights weights(SplittableRandom random, int width, int hidden, int bits) {
    float[] scales = gaussian(random, width, 0.2);
    for (int i = 0; i < width; i++) {
      scales[i] = 1 + Math.abs(scales[i]);
    }
    float[] gain = gaussian(random, width, 0.1);
    for (int i = 0; i < width; i++) {
      gain[i] += 1;
    }
    return new EncoderWeights(
        scales,
        gain,
        gaussian(random, width, 0.1),
        gaussian(random, hidden * width, 1 / Math.sqrt(width)),
        gaussian(random, hidden, 0.1),
        gaussian(random, 2 * bits * hidden, 1 / Math.sqrt(hidden)),
        gaussian(random, 2 * bits, 0.1),
        gaussian(random, bits * width, 1));
  }

  private static float[] gaussian(SplittableRandom random, int count, double size) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) (size * random.nextGaussian());
    }
    return numbers;
  }
}
