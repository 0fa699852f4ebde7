package dev.kvasir.lab.tune;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.mixkvq.MixkvqCodec;
import dev.kvasir.codec.mixkvq.MixkvqOptions;
import dev.kvasir.codec.mixkvq.MixkvqShape;
import dev.kvasir.codec.mixkvq.QuerySpan;
import dev.kvasir.codec.mixkvq.Salience;
import dev.kvasir.codec.mixkvq.SalienceQuantiles;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.codec.mixkvq.TierScope;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.text.BlockwiseReading;
import dev.kvasir.lab.text.FirstTokens;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The salience of a model's key channels, by block of a text. Keys stay in full precision
 * meanwhile, so the result does not depend on thresholds.
 *
 * @param channels all channels, ordered by layer and head
 */
public record SalienceSurvey(
    SalienceQuantiles byQueries, SalienceQuantiles byError, List<Channel> channels) {
  private static final int SINKS = 32;
  private static final int WINDOW = 128;
  private static final int GROUP = 32;

  /**
   * A channel with means over blocks.
   *
   * @param query mean |q| of the query heads that share the channel
   * @param step quantization step at two bits
   */
  public record Channel(int layer, int head, double query, double step) {}

  /**
   * Measures the salience of a text.
   *
   * @param maxTokens maximum number of tokens
   * @return empty if the listener cancelled the measurement
   */
  public static Optional<SalienceSurvey> measure(
      LoadedModel model, String text, int maxTokens, ProgressListener listener) {
    int[] ids = FirstTokens.of(model.tokenizer(), text, maxTokens);
    int tokens = Math.min(ids.length, maxTokens);
    if (tokens < SINKS + WINDOW + Page.TOKENS) {
      throw new InvalidInputException(
          "the text has %d tokens; expected at least %d, so that a page is quantized"
              .formatted(tokens, SINKS + WINDOW + Page.TOKENS));
    }
    Records records = new Records(model.config().cacheShape());
    try (KvCache cache = observedCache(model, records)) {
      boolean complete =
          BlockwiseReading.read(
              model,
              ids,
              tokens,
              cache,
              listener::isCancelled,
              from -> listener.progress(cache.length(), tokens));
      return complete ? Optional.of(records.survey()) : Optional.empty();
    }
  }

  private static KvCache observedCache(LoadedModel model, Records records) {
    CacheShape shape = model.config().cacheShape().withoutWindows();
    MixkvqCodec codec =
        new MixkvqCodec(
                new MixkvqShape(
                    shape.layers(),
                    shape.kvHeads(),
                    shape.keyDim(),
                    shape.valueDim(),
                    model.config().queryHeads()),
                new MixkvqOptions(
                    Thresholds.NONE,
                    Salience.QUERY,
                    QuerySpan.WINDOW,
                    GROUP,
                    Page.TOKENS,
                    TierScope.RESIDUAL,
                    OperandPrecision.EXACT),
                Optional.empty())
            .withObserver(records::add);
    return new PagedCache(shape, new CacheConfig(Precision.F16, SINKS, WINDOW, Optional.of(codec)));
  }

  /** Returns the correlation of query magnitude and step over the channels of a layer. */
  public double correlation(int layer) {
    List<Channel> chosen = channels.stream().filter(one -> one.layer() == layer).toList();
    double query = chosen.stream().mapToDouble(Channel::query).average().orElse(0);
    double step = chosen.stream().mapToDouble(Channel::step).average().orElse(0);
    double both = 0;
    double queries = 0;
    double steps = 0;
    for (Channel one : chosen) {
      both += (one.query() - query) * (one.step() - step);
      queries += Math.pow(one.query() - query, 2);
      steps += Math.pow(one.step() - step, 2);
    }
    return both / Math.sqrt(queries * steps);
  }

  /**
   * Returns the correlation of a layer with its 95% interval by Fisher's transformation, in which
   * correlations of n pairs have a standard error of 1 / sqrt(n - 3).
   */
  public Estimate correlationEstimate(int layer) {
    double correlation = correlation(layer);
    long pairs = channels.stream().filter(one -> one.layer() == layer).count();
    double z = 0.5 * Math.log((1 + correlation) / (1 - correlation));
    double error = 1.96 / Math.sqrt(pairs - 3.0);
    return new Estimate(correlation, Math.tanh(z - error), Math.tanh(z + error));
  }

  /** The observations so far. */
  private static final class Records {
    private final CacheShape shape;
    private final double[] stepSums; // (layers, kvHeads, headDim)
    private final double[] querySums; // (layers, kvHeads, headDim)
    private final List<float[]> steps = new ArrayList<>();
    private final List<float[]> saliences = new ArrayList<>();

    Records(CacheShape shape) {
      this.shape = shape;
      this.stepSums = new double[shape.layers() * shape.kvHeads() * shape.keyDim()];
      this.querySums = new double[stepSums.length];
    }

    void add(int layer, float[] ofKeys, float[] salience) {
      steps.add(ofKeys.clone());
      saliences.add(salience.clone());
      for (int i = 0; i < ofKeys.length; i++) {
        stepSums[layer * ofKeys.length + i] += ofKeys[i];
        querySums[layer * ofKeys.length + i] += ofKeys[i] == 0 ? 0 : salience[i] / ofKeys[i];
      }
    }

    SalienceSurvey survey() {
      double blocks = (double) steps.size() / shape.layers();
      int ofLayer = shape.kvHeads() * shape.keyDim();
      List<Channel> channels = new ArrayList<>();
      for (int i = 0; i < stepSums.length; i++) {
        int head = i % ofLayer / shape.keyDim();
        channels.add(new Channel(i / ofLayer, head, querySums[i] / blocks, stepSums[i] / blocks));
      }
      return new SalienceSurvey(quantiles(saliences), quantiles(steps), channels);
    }

    private static SalienceQuantiles quantiles(List<float[]> parts) {
      int length = parts.getFirst().length;
      float[] all = new float[parts.size() * length];
      for (int i = 0; i < parts.size(); i++) {
        System.arraycopy(parts.get(i), 0, all, i * length, length);
      }
      return SalienceQuantiles.of(all);
    }
  }
}
