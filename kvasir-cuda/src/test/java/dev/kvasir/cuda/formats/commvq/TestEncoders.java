package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Random networks that encode values, with the keys of {@link TestCodebooks}. */
final class TestEncoders {
  private final SplittableRandom random = new SplittableRandom(73);
  private final int width;
  private final int hidden;
  private final int bits;

  private TestEncoders(int width, int hidden, int bits) {
    this.width = width;
    this.hidden = hidden;
    this.bits = bits;
  }

  /** Returns the codec of a cache with random networks. */
  static CommvqCodec codec(
      int layers, int kvHeads, int headDim, int hidden, int bits, RopeLayout layout) {
    int width = kvHeads * headDim;
    TestEncoders random = new TestEncoders(width, hidden, bits * width);
    List<List<KeyCodebook>> keys =
        TestCodebooks.layers(layers, kvHeads, headDim, 1, bits).stream()
            .map(LayerCodebooks::keys)
            .toList();
    List<EncoderWeights> encoders = Stream.generate(random::weights).limit(layers).toList();
    Profile profile = new EncoderProfile(bits, keys, encoders).addTo(Profile.empty("random"));
    CacheContext context =
        CacheContext.unknown()
            .withRotation(Optional.of(TestCodebooks.rotation(headDim, layout)))
            .withTables(Optional.of(new ModelTables()))
            .withProfile(Optional.of(profile));
    CacheSpec spec = CacheSpec.parse("commvq:%d,values=encoder".formatted(bits));
    CacheShape shape = new CacheShape(layers, kvHeads, headDim);
    return (CommvqCodec) spec.config().cacheConfig(shape, context).codec().orElseThrow();
  }

  private EncoderWeights weights() {
    float[] scales = gaussian(width, 0.2, 0);
    for (int i = 0; i < width; i++) {
      scales[i] = 1 + Math.abs(scales[i]);
    }
    return new EncoderWeights(
        scales,
        gaussian(width, 0.1, 1),
        gaussian(width, 0.1, 0),
        gaussian(hidden * width, 1 / Math.sqrt(width), 0),
        gaussian(hidden, 0.1, 0),
        gaussian(2 * bits * hidden, 1 / Math.sqrt(hidden), 0),
        gaussian(2 * bits, 0.1, 0),
        gaussian(bits * width, 1, 0));
  }

  private float[] gaussian(int count, double size, double mean) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) (mean + size * random.nextGaussian());
    }
    return numbers;
  }
}
