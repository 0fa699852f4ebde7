package dev.kvasir.codec.mead;

import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.Rotation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Makes tables and bit widths of a sequence from its first page. Values are stored as channels, and
 * layers have the same bytes.
 *
 * @param rotations of keys
 * @param queriesPerKvHead query heads that share a KV head
 * @param zeroRow row of a table that predicts the mean
 * @param valueTo from values to components, which are the same // (valueWidth, valueDim)
 * @param valueFrom from components to values // (valueDim, valueWidth)
 * @param importance equal for all tokens // (keys and values, rank buckets)
 */
record PromptFitter(
    MeadSizes sizes,
    LayerRotations rotations,
    int queriesPerKvHead,
    MemorySegment zeroRow,
    float[] valueTo,
    float[] valueFrom,
    float[] importance) {
  private static final int TOKENS = Page.TOKENS;

  /**
   * Ratio of the weights of neighbouring tiers. Questions ask for the tokens of high tiers; with a
   * ratio of 2 the bundled model solves fewer programs at the same divergence.
   */
  private static final float TIER_RATIO = 3;

  /** Mean errors of a page are quantized in quarters of a component's deviation. */
  private static final float MEAN_UNIT = 0.25f;

  /** Share of a channel's own queries in its weight; the other channel of its pair has the rest. */
  private static final double OWN_SHARE = 0.75;

  /** Alignment of table rows for kernels. */
  private static final int ROW_ALIGNMENT = 64;

  static PromptFitter of(
      MeadSizes sizes, LayerRotations rotations, int queryHeads, SegmentAllocator memory) {
    int width = Math.max(sizes.keyWidth(), sizes.valueWidth());
    float[] importance = new float[KvSide.COUNT * HeadProfile.RANK_BUCKETS];
    Arrays.fill(importance, 1);
    return new PromptFitter(
        sizes,
        rotations,
        queryHeads / sizes.kvHeads(),
        memory.allocate(width / 2, ROW_ALIGNMENT),
        identity(sizes.valueWidth(), sizes.valueDim()),
        identity(sizes.valueDim(), sizes.valueWidth()),
        importance);
  }

  /** Measures the first page, which is the first of the batch. */
  void measure(QuantizationBatch batch, PromptStatistics statistics) {
    HeadSampleFit fit = new HeadSampleFit(sizes);
    float[] keys = new float[sizes.kvHeads() * TOKENS * sizes.keyDim()];
    float[] values = new float[sizes.kvHeads() * TOKENS * sizes.valueDim()];
    for (int layer = 0; layer < sizes.layers(); layer++) {
      if (batch.quantizes(layer)) {
        batch.readBlock(layer, 0, keys, values);
        for (int head = 0; head < sizes.kvHeads(); head++) {
          float[] ofHead = headKeys(layer, head, batch.position(), keys);
          int at = head * TOKENS * sizes.valueDim();
          float[] headValues = Arrays.copyOfRange(values, at, at + TOKENS * sizes.valueDim());
          double[] queryPower = inPairOrder(layer, statistics.queryPower(layer, head));
          statistics.set(layer, head, fit.fit(ofHead, headValues, queryPower));
        }
      }
    }
  }

  /** Returns a head's keys before RoPE, in pair order. // (TOKENS, keyDim) */
  private float[] headKeys(int layer, int head, int position, float[] rotated) {
    int dim = sizes.keyDim();
    int at = head * TOKENS * dim;
    Rotation rotation = rotations.of(layer);
    rotation.rotate(rotated, at, dim, TOKENS, -position);
    rotation.unrotateConsecutive(rotated, at, dim, TOKENS);
    int[] order = rotation.pairOrder(dim);
    float[] keys = new float[TOKENS * dim];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rotated[at + i - i % dim + order[i % dim]];
    }
    return keys;
  }

  /**
   * Puts the power of queries in pair order. A query is sampled at a few distances from the page,
   * others rotate the two channels of a pair further into each other.
   */
  private double[] inPairOrder(int layer, double[] power) {
    int[] order = rotations.of(layer).pairOrder(sizes.keyDim());
    int half = order.length / 2;
    double[] ordered = new double[order.length];
    for (int i = 0; i < order.length; i++) {
      double other = power[order[(i + half) % order.length]];
      ordered[i] = OWN_SHARE * power[order[i]] + (1 - OWN_SHARE) * other;
    }
    return ordered;
  }

  MeadTables tables(PromptStatistics statistics) {
    return tables(
        IntStream.range(0, sizes.layers())
            .mapToObj(
                layer ->
                    IntStream.range(0, sizes.kvHeads())
                        .mapToObj(head -> tables(statistics.get(layer, head)))
                        .toList())
            .toList());
  }

  /** Returns the tables of a sequence that has measured nothing; their allocation has no bits. */
  MeadTables blank() {
    HeadTables head = tables(HeadStatistics.blank(sizes));
    return tables(Collections.nCopies(sizes.layers(), Collections.nCopies(sizes.kvHeads(), head)));
  }

  private MeadTables tables(List<List<HeadTables>> layers) {
    return new MeadTables(sizes, TableKind.OFF, layers, Optional.empty(), new int[0], rotations);
  }

  private HeadTables tables(HeadStatistics head) {
    TierStatistics tiers = tiers(head);
    float[] units = Arrays.copyOfRange(head.deviations(), sizes.keyDim(), head.deviations().length);
    for (int i = 0; i < units.length; i++) {
      units[i] *= MEAN_UNIT;
    }
    return new HeadTables(
        row(head, KvSide.KEYS),
        row(head, KvSide.VALUES),
        sizes.inLanes(KvSide.KEYS, head.keyWeights(), 0),
        valueTo,
        valueFrom,
        tiers,
        tiers,
        importance,
        sizes.inLanes(KvSide.VALUES, units, 0));
  }

  /** Returns the identity, padded with rows or columns of zeros. */
  private static float[] identity(int rows, int columns) {
    float[] matrix = new float[rows * columns];
    for (int i = 0; i < Math.min(rows, columns); i++) {
      matrix[i * columns + i] = 1;
    }
    return matrix;
  }

  private NibbleRows row(HeadStatistics head, KvSide side) {
    int width = sizes.width(side);
    int at = side == KvSide.KEYS ? 0 : sizes.keyDim();
    return new NibbleRows(
        zeroRow.asSlice(0, width / 2),
        width / 2,
        width,
        sizes.inLanes(side, head.means(), at),
        new float[width]);
  }

  /** Errors count relative to the variance of values, which makes heads comparable. */
  private TierStatistics tiers(HeadStatistics head) {
    int both = sizes.keyDim() + sizes.valueDim();
    float[] deviations = new float[SaliencyTier.COUNT * both];
    float[] weights = new float[SaliencyTier.COUNT * KvSide.COUNT];
    float variance = 0;
    for (int i = sizes.keyDim(); i < both; i++) {
      variance += head.deviations()[i] * head.deviations()[i];
    }
    float weight = variance > 0 ? 1 / (TIER_RATIO * variance) : 0;
    for (SaliencyTier tier : SaliencyTier.values()) {
      for (KvSide side : KvSide.values()) {
        int of = tier.ordinal() * KvSide.COUNT + side.ordinal();
        weights[of] = weight;
        for (int i = 0; i < sizes.dim(side); i++) {
          int channel = side == KvSide.KEYS ? i : sizes.keyDim() + i;
          float scale = side == KvSide.KEYS ? head.keyWeights()[i] : 1;
          deviations[tier.ordinal() * both + channel] =
              head.deviations()[channel] * scale * head.tierRatios()[of];
        }
      }
      weight *= TIER_RATIO;
    }
    return new TierStatistics(deviations, weights);
  }
}
