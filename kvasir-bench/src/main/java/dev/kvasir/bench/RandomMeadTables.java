package dev.kvasir.bench;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mead.HeadProfile;
import dev.kvasir.codec.mead.MeadProfile;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.codec.mead.TierAssigner;
import dev.kvasir.codec.mead.TierStatistics;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Random tables for mead, which cost as much as trained ones. There are none for the first layer,
 * so that it has codes like the others.
 */
final class RandomMeadTables {
  /** Keys and values. */
  private static final int SIDES = 2;

  private final SplittableRandom random = new SplittableRandom(4);
  private final CacheShape shape;

  private final int rows;

  private RandomMeadTables(CacheShape shape, int rows) {
    this.shape = shape;
    this.rows = rows;
  }

  /** Adds a table of a row for each token. */
  static Profile addTo(Profile profile, CacheShape shape) {
    int[] tokenRows = IntStream.range(0, RandomKv.VOCABULARY).toArray();
    RandomMeadTables random = new RandomMeadTables(shape, RandomKv.VOCABULARY);
    return new MeadProfile(TableKind.TOKENS, random.layers(), tokenRows).addTo(profile, shape);
  }

  /** Adds a mean for all tokens. */
  static Profile addMeanTo(Profile profile, CacheShape shape) {
    RandomMeadTables random = new RandomMeadTables(shape, 1);
    return new MeadProfile(TableKind.OFF, random.layers(), new int[0]).addTo(profile, shape);
  }

  private List<List<HeadProfile>> layers() {
    return Stream.generate(() -> Stream.generate(this::head).limit(shape.kvHeads()).toList())
        .limit(shape.layers())
        .toList();
  }

  private HeadProfile head() {
    int both = shape.keyDim() + shape.valueDim();
    float[] same = identity(shape.valueDim());
    float[] lows = new float[both];
    Arrays.fill(lows, -0.3f);
    float[] steps = new float[both];
    Arrays.fill(steps, 0.04f);
    return new HeadProfile(
        sizes(shape.keyDim()),
        same,
        same,
        tiers(),
        tiers(),
        sizes(SIDES * HeadProfile.RANK_BUCKETS),
        sizes(shape.valueDim()),
        lows,
        steps,
        HeadProfile.packNibbles(
            nibbles(shape.keyDim()), shape.keyDim(), nibbles(shape.valueDim()), shape.valueDim()));
  }

  private TierStatistics tiers() {
    return new TierStatistics(
        sizes(TierAssigner.TIERS * (shape.keyDim() + shape.valueDim())),
        sizes(TierAssigner.TIERS * SIDES));
  }

  private static float[] identity(int size) {
    float[] matrix = new float[size * size];
    for (int i = 0; i < size; i++) {
      matrix[i * size + i] = 1;
    }
    return matrix;
  }

  /** Returns varied magnitudes, so that channels get different widths. */
  private float[] sizes(int count) {
    float[] sizes = new float[count];
    for (int i = 0; i < count; i++) {
      sizes[i] = (float) random.nextDouble(0.25, 1);
    }
    return sizes;
  }

  private byte[] nibbles(int channels) {
    byte[] nibbles = new byte[rows * channels];
    for (int i = 0; i < nibbles.length; i++) {
      nibbles[i] = (byte) random.nextInt(16);
    }
    return nibbles;
  }
}
