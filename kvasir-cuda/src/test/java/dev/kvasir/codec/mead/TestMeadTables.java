package dev.kvasir.codec.mead;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** Random tables of a model whose keys and values have deviations of about 1. */
public final class TestMeadTables {
  private static final int VOCABULARY = 300;
  private static final int CENTROIDS = 40;

  private final SplittableRandom random = new SplittableRandom(79);
  private final CacheShape shape;

  private TestMeadTables(CacheShape shape) {
    this.shape = shape;
  }

  /**
   * Returns the codec of a spec for a model with one kind of tables and rows of the first layer.
   */
  public static PageCodec codec(CacheShape shape, String spec, TableKind kind, Rotation rotation) {
    CacheContext context =
        CacheContext.unknown()
            .withRotation(Optional.of(rotation))
            .withTables(Optional.of(new ModelTables()))
            .withProfile(Optional.of(profile(shape, kind)));
    return CacheSpec.parse(spec).config().cacheConfig(shape, context).codec().orElseThrow();
  }

  static Profile profile(CacheShape shape, TableKind kind) {
    TestMeadTables made = new TestMeadTables(shape);
    Profile with = made.first().addTo(Profile.empty("test"), shape);
    return made.of(kind).addTo(with, shape);
  }

  private MeadProfile.FirstLayer first() {
    int heads = VOCABULARY * shape.kvHeads();
    return new MeadProfile.FirstLayer(
        VOCABULARY, gaussian(heads * shape.keyDim()), gaussian(heads * shape.valueDim()));
  }

  private MeadProfile of(TableKind kind) {
    int rows =
        switch (kind) {
          case TOKENS -> VOCABULARY;
          case CENTROIDS -> CENTROIDS;
          case OFF -> 1;
        };
    List<List<HeadProfile>> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      List<HeadProfile> heads = new ArrayList<>();
      for (int head = 0; head < shape.kvHeads(); head++) {
        heads.add(head(rows));
      }
      layers.add(heads);
    }
    int[] tokenRows = new int[kind == TableKind.TOKENS ? VOCABULARY : 0];
    Arrays.setAll(tokenRows, id -> VOCABULARY - 1 - id);
    return new MeadProfile(kind, layers, tokenRows);
  }

  private HeadProfile head(int rows) {
    int both = shape.keyDim() + shape.valueDim();
    int words = HeadProfile.words(shape.keyDim()) + HeadProfile.words(shape.valueDim());
    float[] reflection = reflection(shape.valueDim());
    short[] nibbles = new short[rows * words];
    for (int i = 0; i < nibbles.length; i++) {
      nibbles[i] = (short) random.nextInt();
    }
    float[] lows = new float[both];
    float[] steps = new float[both];
    Arrays.fill(lows, -0.3f);
    Arrays.fill(steps, 0.04f);
    return new HeadProfile(
        around(shape.keyDim(), 1),
        reflection,
        reflection,
        tiers(),
        tiers(),
        around(KvSide.COUNT * HeadProfile.RANK_BUCKETS, 1),
        around(shape.valueDim(), 0.02),
        lows,
        steps,
        nibbles);
  }

  /** Deviations of some channels are small, so that these have few bits or none. */
  private TierStatistics tiers() {
    float[] deviations = around(SaliencyTier.COUNT * (shape.keyDim() + shape.valueDim()), 1);
    for (int i = 0; i < deviations.length; i++) {
      deviations[i] *= (float) Math.pow(0.5, random.nextInt(5));
    }
    return new TierStatistics(deviations, around(SaliencyTier.COUNT * KvSide.COUNT, 1));
  }

  /** Returns a reflection, which is its own inverse. */
  private float[] reflection(int dim) {
    float[] normal = gaussian(dim);
    double length = 0;
    for (float x : normal) {
      length += x * x;
    }
    float[] matrix = new float[dim * dim];
    for (int i = 0; i < dim; i++) {
      for (int j = 0; j < dim; j++) {
        matrix[i * dim + j] = (float) ((i == j ? 1 : 0) - 2 * normal[i] * normal[j] / length);
      }
    }
    return matrix;
  }

  private float[] gaussian(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }

  private float[] around(int count, double size) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) (size * (0.5 + random.nextDouble()));
    }
    return numbers;
  }
}
