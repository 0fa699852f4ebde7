package dev.kvasir.lab.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.mead.HeadProfile;
import dev.kvasir.codec.mead.TierAssigner;
import dev.kvasir.codec.mead.TierStatistics;
import java.util.Arrays;
import java.util.List;

/** Fits the profile of one head from its metric and retained activations. */
final class HeadFit {
  private static final int PAGE = Page.TOKENS;

  /** Mean errors of a page are quantized in quarters of a component's standard deviation. */
  private static final double MEAN_UNIT = 0.25;

  /**
   * Ratio of the weights of neighbouring energy tiers. It is fixed, because what tokens with large
   * residuals are worth shows in questions and hardly in the gradients of prose.
   */
  private static final float TIER_RATIO = 3;

  private final int layer;
  private final int head;
  private final TokenKvLayout layout;
  private final int keyDim;
  private final int valueDim;
  private final Metric metric;
  private final ValueBasis basis;
  private final NibbleTable keyTable;
  private final NibbleTable valueTable;
  private final float[] keyWeights;
  private final float[] energyWeights; // (tiers, keys and values)

  /**
   * @param rows table rows of the layer (rows, width of {@link TokenKvLayout})
   * @param weights frequency of each row
   */
  HeadFit(
      int layer,
      int head,
      TokenKvLayout layout,
      int keyDim,
      int valueDim,
      Metric metric,
      Covariance residuals,
      float[] rows,
      double[] weights) {
    this.layer = layer;
    this.head = head;
    this.layout = layout;
    this.keyDim = keyDim;
    this.valueDim = valueDim;
    this.metric = metric;
    this.basis = ValueBasis.of(metric.values(), residuals.values(), valueDim);
    this.keyWeights = new float[keyDim];
    for (int i = 0; i < keyDim; i++) {
      keyWeights[i] = (float) Math.sqrt(metric.keys()[i]);
    }
    int count = weights.length;
    this.energyWeights = new float[] {1 / TIER_RATIO, 1 / TIER_RATIO, 1, 1, TIER_RATIO, TIER_RATIO};
    float[] keys = new float[count * keyDim];
    float[] components = new float[count * valueDim];
    for (int r = 0; r < count; r++) {
      int at = r * layout.width();
      System.arraycopy(rows, at + layout.keyAt(head), keys, r * keyDim, keyDim);
      toComponents(rows, at + layout.valueAt(head), components, r * valueDim);
    }
    this.keyTable = NibbleTable.of(keys, keyDim, weights);
    this.valueTable = NibbleTable.of(components, valueDim, weights);
  }

  private void toComponents(float[] values, int at, float[] out, int outAt) {
    for (int c = 0; c < valueDim; c++) {
      double sum = 0;
      for (int i = 0; i < valueDim; i++) {
        sum += (double) basis.to()[c * valueDim + i] * values[at + i];
      }
      out[outAt + c] = (float) sum;
    }
  }

  /**
   * @param assignment the table rows of a token
   */
  HeadProfile fit(List<TextActivations> texts, RowAssignment assignment) {
    TierSums byAttention = new TierSums(metric.importance());
    TierSums byEnergy = new TierSums(uniformImportance());
    float[] residuals = new float[PAGE * (keyDim + valueDim)];
    for (TextActivations text : texts) {
      PageRanks ranks = text.ranks(layer);
      for (int page = 0; page < ranks.pages(); page++) {
        int first = PageRanks.SINKS + page * PAGE;
        readResiduals(text, first, assignment, residuals);
        byAttention.addPage(residuals, ranks, first);
        byEnergy.addPage(residuals, ranks, first);
      }
    }
    return profile(byAttention, byEnergy);
  }

  private static float[] uniformImportance() {
    float[] importance = new float[2 * HeadProfile.RANK_BUCKETS];
    Arrays.fill(importance, 1);
    return importance;
  }

  /** Sums of residuals after table prediction, by tier. */
  private final class TierSums {
    private final int both = keyDim + valueDim;
    private final double[] squares = new double[TierAssigner.TIERS * both];
    private final double[] weights = new double[TierAssigner.TIERS * 2]; // keys and values
    private final double[] counts = new double[TierAssigner.TIERS];
    private final TierAssigner classing;

    /**
     * @param importance what tiers are assigned by (keys and values, ranks)
     */
    TierSums(float[] importance) {
      this.classing = new TierAssigner(importance);
    }

    void addPage(float[] residuals, PageRanks ranks, int first) {
      double[] keyEnergies = new double[PAGE];
      double[] valueEnergies = new double[PAGE];
      int[] parts = new int[PAGE];
      for (int i = 0; i < PAGE; i++) {
        keyEnergies[i] = energy(residuals, i * both, keyDim);
        valueEnergies[i] = energy(residuals, i * both + keyDim, valueDim);
        parts[i] = ranks.rankOf(head, first + i);
      }
      int[] classes = classing.tiers(keyEnergies, valueEnergies, parts);
      for (int i = 0; i < PAGE; i++) {
        if (parts[i] != PageRanks.NONE) {
          add(classes[i], parts[i], residuals, i * both);
        }
      }
    }

    TierStatistics statistics() {
      float[] deviations = new float[squares.length];
      float[] means = new float[weights.length];
      for (int tier = 0; tier < counts.length; tier++) {
        double count = Math.max(1, counts[tier]);
        for (int k = 0; k < both; k++) {
          deviations[tier * both + k] = (float) Math.sqrt(squares[tier * both + k] / count);
        }
        means[tier * 2] = (float) (weights[tier * 2] / count);
        means[tier * 2 + 1] = (float) (weights[tier * 2 + 1] / count);
      }
      return new TierStatistics(deviations, means);
    }

    float[] meanUnits() {
      double all = Math.max(1, Arrays.stream(counts).sum());
      float[] units = new float[valueDim];
      for (int k = 0; k < valueDim; k++) {
        double total = 0;
        for (int tier = 0; tier < counts.length; tier++) {
          total += squares[tier * both + keyDim + k];
        }
        units[k] = (float) (MEAN_UNIT * Math.sqrt(total / all));
      }
      return units;
    }

    private void add(int ofClass, int part, float[] residuals, int at) {
      counts[ofClass]++;
      weights[ofClass * 2] += metric.importance()[part];
      weights[ofClass * 2 + 1] += metric.importance()[HeadProfile.RANK_BUCKETS + part];
      for (int k = 0; k < both; k++) {
        squares[ofClass * both + k] += (double) residuals[at + k] * residuals[at + k];
      }
    }
  }

  private static double energy(float[] x, int at, int count) {
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += (double) x[i] * x[i];
    }
    return sum;
  }

  /** Computes the residuals of a page: weighted keys and value components. */
  private void readResiduals(
      TextActivations text, int first, RowAssignment assignment, float[] residuals) {
    int both = keyDim + valueDim;
    float[] value = new float[valueDim];
    for (int i = 0; i < PAGE; i++) {
      int keyRow = assignment.ofKey(text, first + i);
      int valueRow = assignment.ofValue(text, first + i);
      int at = i * both;
      text.read(layer, first + i, layout.keyAt(head), keyDim, residuals, at);
      for (int k = 0; k < keyDim; k++) {
        residuals[at + k] = (residuals[at + k] - keyTable.value(keyRow, k, keyDim)) * keyWeights[k];
      }
      text.read(layer, first + i, layout.valueAt(head), valueDim, value, 0);
      toComponents(value, 0, residuals, at + keyDim);
      for (int k = 0; k < valueDim; k++) {
        residuals[at + keyDim + k] -= valueTable.value(valueRow, k, valueDim);
      }
    }
  }

  private HeadProfile profile(TierSums byAttention, TierSums byEnergy) {
    return new HeadProfile(
        keyWeights,
        basis.to(),
        basis.from(),
        byAttention.statistics(),
        new TierStatistics(byEnergy.statistics().deviations(), energyWeights),
        metric.importance(),
        byAttention.meanUnits(),
        joined(keyTable.lows(), valueTable.lows()),
        joined(keyTable.steps(), valueTable.steps()),
        words());
  }

  private static float[] joined(float[] a, float[] b) {
    float[] joined = new float[a.length + b.length];
    System.arraycopy(a, 0, joined, 0, a.length);
    System.arraycopy(b, 0, joined, a.length, b.length);
    return joined;
  }

  private short[] words() {
    return HeadProfile.packNibbles(keyTable.nibbles(), keyDim, valueTable.nibbles(), valueDim);
  }
}
