package dev.kvasir.lab.reproduce;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.analysis.ChannelMagnitudes;
import dev.kvasir.lab.analysis.KeyDrift;
import dev.kvasir.lab.analysis.KeyInformation;
import dev.kvasir.lab.analysis.KeysAndValues;
import dev.kvasir.lab.analysis.TokenConsistency;
import dev.kvasir.lab.inspect.DeviationHistogram;
import dev.kvasir.lab.inspect.PatternFit;
import dev.kvasir.lab.reproduce.Figures.Line;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** The analyses of PatternKV's paper. */
final class PatternkvAnalyses {
  private static final List<Integer> DISTANCES = List.of(1, 8, 32, 128, 512);
  private static final int TEXTS = 8;
  private static final int QUICK_TEXTS = 2;

  private PatternkvAnalyses() {}

  /** Figure 1: how much narrower residuals are than vectors. */
  static Optional<Figures> flatness(Conditions conditions) {
    return fit(conditions)
        .map(
            fit ->
                new Figures(
                    List.of("range left", "central before", "central after"),
                    List.of(
                        flatness("K", fit.means().get("keyRange").value(), fit.keys()),
                        flatness("V", fit.means().get("valueRange").value(), fit.values())),
                    List.of(
                        "range left is the range of residuals relative to that of vectors; central"
                            + " is the share of numbers within half a standard deviation of the"
                            + " vectors")));
  }

  private static Line flatness(String label, double range, PatternFit.Spread spread) {
    return Line.of(label, range, central(spread.whole()), central(spread.residual()));
  }

  /** Returns the share of numbers within half a standard deviation. */
  private static double central(DeviationHistogram histogram) {
    double[] density = histogram.density();
    double width = 2 * DeviationHistogram.RANGE / DeviationHistogram.BINS;
    int half = (int) Math.round(0.5 / width);
    int middle = density.length / 2;
    return width * Arrays.stream(density, middle - half, middle + half).sum();
  }

  /** Figure 9: values with a pattern, by layer. */
  static Optional<Figures> utilization(Conditions conditions) {
    return fit(conditions)
        .map(
            fit -> {
              List<Line> lines = new ArrayList<>();
              for (int i = 0; i < fit.layers().size(); i++) {
                lines.add(Line.of("layer " + i, 100 * fit.layers().get(i).valuesWithPattern()));
              }
              lines.add(Line.of("all layers", 100 * fit.means().get("valuesWithPattern").value()));
              return new Figures(List.of("% of values"), lines, List.of());
            });
  }

  private static Optional<PatternFit> fit(Conditions conditions) {
    int tokens = conditions.context(4096, 300);
    return PatternFit.measure(
        conditions.model(),
        CacheSpec.parse(PaperCaches.PATTERNKV_2),
        Prefill.EXACT,
        Novel.start(tokens),
        tokens,
        conditions.listener());
  }

  /** Figures 2 and 7: channels of keys with and without context. */
  static Optional<Figures> embeddingOnly(Conditions conditions) {
    Texts texts = new Texts(conditions);
    Optional<KeysAndValues> whole = texts.read(0);
    Optional<KeysAndValues> alone =
        whole.flatMap(
            text ->
                KeysAndValues.withoutContext(
                    conditions.model(), text.ids(), conditions.listener()));
    return alone.map(
        single -> {
          List<Line> lines = new ArrayList<>();
          for (int layer = 0; layer < single.shape().layers(); layer++) {
            ChannelMagnitudes before = ChannelMagnitudes.of(single, layer);
            ChannelMagnitudes after = ChannelMagnitudes.of(whole.get(), layer);
            lines.add(
                Line.of(
                    "layer " + layer,
                    before.mean(),
                    before.max(),
                    after.mean(),
                    after.max(),
                    100 * before.sharedOutliers(after),
                    before.correlation(after)));
          }
          return new Figures(
              List.of("mean alone", "max alone", "mean", "max", "% shared", "correlation"),
              lines,
              List.of(
                  "mean and max are over the channels' mean magnitudes, alone with each token as a"
                      + " text of its own; % shared is the share of the largest twentieth of"
                      + " channels that both have"));
        });
  }

  /** Figures 3a, 8 and 11: similarity of keys by distance. */
  static Optional<Figures> drift(Conditions conditions) {
    return new Texts(conditions)
        .read(0)
        .map(
            text ->
                new Figures(
                    DISTANCES.stream().map(distance -> "at " + distance).toList(),
                    byLayer(text, layer -> drifts(text, layer)),
                    List.of(
                        "cells are mean cosine similarities of keys of one head at a distance of"
                            + " tokens, which the paper shows as t-SNE maps")));
  }

  private static double[] drifts(KeysAndValues text, int layer) {
    return DISTANCES.stream()
        .mapToDouble(distance -> KeyDrift.similarity(text, layer, distance))
        .toArray();
  }

  /** Figure 3b: consistency of tokens and clusters of values. */
  static Optional<Figures> consistency(Conditions conditions) {
    return new Texts(conditions)
        .read(0)
        .map(
            text ->
                new Figures(
                    List.of("C_t"),
                    byLayer(text, layer -> new double[] {TokenConsistency.ofLayer(text, layer)}),
                    List.of()));
  }

  private static List<Line> byLayer(KeysAndValues text, IntFunction<double[]> figures) {
    return IntStream.range(0, text.shape().layers())
        .mapToObj(layer -> Line.of("layer " + layer, figures.apply(layer)))
        .toList();
  }

  /** Table 5: mutual information of keys. */
  static Optional<Figures> information(Conditions conditions) {
    Texts texts = new Texts(conditions);
    int count = conditions.request().samples(TEXTS, QUICK_TEXTS);
    Optional<List<KeysAndValues>> prompts = texts.pieces(Math.max(2, count));
    if (prompts.isEmpty()) {
      return Optional.empty();
    }
    return texts
        .samples(Math.max(2, count))
        .map(
            samples -> {
              KeyInformation found = KeyInformation.of(prompts.get(), samples);
              return new Figures(
                  List.of("Random", "Inter-Prefill", "Inter-Sample", "Inter-Token"),
                  List.of(
                      Line.of(
                          "K",
                          found.random(),
                          found.betweenPrompts(),
                          found.betweenSamples(),
                          found.betweenTokens())),
                  List.of(
                      "the paper names no estimator; here it is the histogram of channel pairs, in"
                          + " nats, so compare columns and not sizes"));
            });
  }

  /** Table 9: time of the method's own steps, relative to KIVI. */
  static Optional<Figures> components(Conditions conditions) {
    int tokens = conditions.context(1024, 160);
    DecodeTimes kivi = DecodeTimes.measure(conditions, CacheSpec.parse(PaperCaches.KIVI_2), tokens);
    DecodeTimes own =
        DecodeTimes.measure(conditions, CacheSpec.parse(PaperCaches.PATTERNKV_2), tokens);
    long selection =
        own.prefill().quantizeNanos()
            + own.decode().quantizeNanos()
            - kivi.prefill().quantizeNanos()
            - kivi.decode().quantizeNanos();
    return Optional.of(
        new Figures(
            List.of("Latency", "Throughput"),
            List.of(
                component("Pattern mining", own.prefill().learnNanos(), kivi),
                component("Pattern selection", selection, kivi),
                component("Chebyshev-center updates", own.decode().learnNanos(), kivi)),
            List.of("percent of KIVI's time, for one sequence; FLOPs are not counted")));
  }

  private static Line component(String label, long nanos, DecodeTimes baseline) {
    double more = (double) nanos / baseline.totalNanos();
    return Line.of(label, 100 * more, -100 * more / (1 + more));
  }
}
