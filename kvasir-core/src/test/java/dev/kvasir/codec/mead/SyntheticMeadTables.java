package dev.kvasir.codec.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SyntheticProfilePart;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Tables of random rows, for vectors of deviation 1. */
public final class SyntheticMeadTables {
  private static final int VOCABULARY = 300;
  private static final int CENTROIDS = 40;

  private final SplittableRandom random = new SplittableRandom(73);
  private final CacheShape shape;

  /** The service. */
  public static final class Part implements SyntheticProfilePart {
    @Override
    public Profile addTo(Profile profile, CacheShape shape) {
      return SyntheticMeadTables.addTo(profile, shape);
    }
  }

  private SyntheticMeadTables(CacheShape shape) {
    this.shape = shape;
  }

  /** Adds tables of every kind, and first-layer rows, to a profile. */
  public static Profile addTo(Profile profile, CacheShape shape) {
    SyntheticMeadTables made = new SyntheticMeadTables(shape);
    Profile with = made.first().addTo(profile, shape);
    for (TableKind kind : TableKind.values()) {
      with = made.of(kind).addTo(with, shape);
    }
    return with;
  }

  private MeadProfile.FirstLayer first() {
    int heads = VOCABULARY * shape.kvHeads();
    return new MeadProfile.FirstLayer(
        VOCABULARY, gaussian(heads * shape.keyDim(), 1), gaussian(heads * shape.valueDim(), 1));
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
    Arrays.setAll(tokenRows, id -> id);
    return new MeadProfile(kind, layers, tokenRows);
  }

  private HeadProfile head(int rows) {
    int both = shape.keyDim() + shape.valueDim();
    float[] reflection = reflection(shape.valueDim());
    short[] words =
        new short[rows * (HeadProfile.words(shape.keyDim()) + HeadProfile.words(shape.valueDim()))];
    for (int i = 0; i < words.length; i++) {
      words[i] = (short) random.nextInt();
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
        falling(),
        around(shape.valueDim(), 0.25),
        lows,
        steps,
        words);
  }

  private TierStatistics tiers() {
    return new TierStatistics(
        around(SaliencyTier.COUNT * (shape.keyDim() + shape.valueDim()), 1),
        around(SaliencyTier.COUNT * KvSide.COUNT, 1));
  }

  /** Returns a reflection, which is its own inverse. */
  private float[] reflection(int dim) {
    float[] normal = gaussian(dim, 1);
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

  private float[] falling() {
    float[] importance = new float[KvSide.COUNT * HeadProfile.RANK_BUCKETS];
    for (int i = 0; i < importance.length; i++) {
      importance[i] = 2f / (1 + i % HeadProfile.RANK_BUCKETS);
    }
    return importance;
  }

  private float[] gaussian(int count, double deviation) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) (deviation * random.nextGaussian());
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
