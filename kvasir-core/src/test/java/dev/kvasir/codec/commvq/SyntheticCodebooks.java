package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** Codebooks of random rows, smaller from stage to stage like trained ones. */
public final class SyntheticCodebooks {
  private static final int ROWS = AdditiveStages.ROWS;
  private static final Map<Request, Profile> MADE = new ConcurrentHashMap<>();

  private record Request(CacheShape shape, List<Integer> widths) {}

  private final SplittableRandom random = new SplittableRandom(71);
  private final CacheShape shape;
  private final int valueHeads;
  private final int used;

  private SyntheticCodebooks(CacheShape shape, int valueHeads, int used) {
    this.shape = shape;
    this.valueHeads = valueHeads;
    this.used = used;
  }

  /**
   * Returns a profile with codebooks of the default shape, and encoders, for each bit width; the
   * same one for the same arguments.
   */
  public static Profile profile(CacheShape shape, int... widths) {
    Request request = new Request(shape, IntStream.of(widths).boxed().toList());
    return MADE.computeIfAbsent(request, any -> make(shape, widths));
  }

  private static Profile make(CacheShape shape, int... widths) {
    int heads = CommvqShape.defaultValueHeads(shape.kvHeads(), shape.valueDim());
    Profile profile = grouped(shape, heads, ROWS, widths);
    for (int bits : widths) {
      profile = SyntheticEncoders.addTo(profile, shape, bits);
    }
    return profile;
  }

  /**
   * Returns a profile with codebooks for each bit width.
   *
   * @param valueHeads KV heads whose values share codes
   * @param used rows of a set
   */
  static Profile grouped(CacheShape shape, int valueHeads, int used, int... widths) {
    Profile profile = Profile.empty("made up");
    for (int bits : widths) {
      profile = new SyntheticCodebooks(shape, valueHeads, used).of(bits).addTo(profile);
    }
    return profile;
  }

  private CommvqProfile of(int bits) {
    int keyDim = shape.keyDim();
    int groupDim = valueHeads * shape.valueDim();
    int keyStages = CommvqProfile.stages(bits, keyDim, used);
    int valueStages = valueHeads * CommvqProfile.stages(bits, shape.valueDim(), used);
    List<LayerCodebooks> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<KeyCodebook> keys = new ArrayList<>();
      List<ValueCodebook> values = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        keys.add(new KeyCodebook(gaussian(1, 1, keyDim), used, sets(keyStages, 1, keyDim)));
      }
      for (int group = 0; group < shape.kvHeads() / valueHeads; group++) {
        float[] rows = sets(valueStages, 2, groupDim);
        values.add(
            new ValueCodebook(
                valueHeads,
                gaussian(1, 1, groupDim),
                new AdditiveStages(valueStages, groupDim, used, rows)));
      }
      layers.add(new LayerCodebooks(keys, values));
    }
    return new CommvqProfile(bits, layers);
  }

  /** Returns sets whose unused rows are zero: (stages, sets, ROWS, channels). */
  private float[] sets(int stages, int sets, int channels) {
    float[] numbers = gaussian(stages, sets * ROWS, channels);
    for (int row = 0; row < stages * sets * ROWS; row++) {
      if (row % ROWS >= used) {
        Arrays.fill(numbers, row * channels, (row + 1) * channels, 0);
      }
    }
    return numbers;
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
