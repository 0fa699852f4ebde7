package dev.kvasir.lab.reproduce;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.analysis.KeysAndValues;
import dev.kvasir.lab.analysis.UniformErrors;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.lab.tune.SalienceSurvey;
import dev.kvasir.lab.tune.SalienceSurvey.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** The analyses of MixKVQ's paper. */
final class MixkvqAnalyses {
  private static final int BITS = 2;

  private MixkvqAnalyses() {}

  /** Figure 2: errors of keys and values at two bits in the first layer. */
  static Optional<Figures> errors(Conditions conditions) {
    return new Texts(conditions)
        .read(0)
        .map(
            text ->
                new Figures(
                    List.of("mean", "max channel", "max / median"),
                    List.of(
                        line("Key cache", UniformErrors.ofKeys(text, 0, 0, BITS)),
                        line("Value cache", UniformErrors.ofValues(text, 0, 0, BITS))),
                    List.of("layer 0, head 0; errors are means over tokens")));
  }

  private static Line line(String label, UniformErrors errors) {
    return Line.of(label, errors.mean(), errors.max(), errors.peak());
  }

  /** Figure 6: channels that two bits cannot hold, in every layer. */
  static Optional<Figures> failingChannels(Conditions conditions) {
    return new Texts(conditions)
        .read(0)
        .map(
            text ->
                new Figures(
                    List.of("mean", "max channel", "max / median"),
                    IntStream.range(0, text.shape().layers())
                        .mapToObj(layer -> worstHead(text, layer))
                        .toList(),
                    List.of(
                        "errors of keys at two bits in the head of each layer with the largest"
                            + " ratio; KVTuner gives a layer one width for all channels")));
  }

  private static Line worstHead(KeysAndValues text, int layer) {
    return IntStream.range(0, text.shape().kvHeads())
        .mapToObj(head -> UniformErrors.ofKeys(text, layer, head, BITS))
        .max((left, right) -> Double.compare(left.peak(), right.peak()))
        .map(errors -> line("layer " + layer, errors))
        .orElseThrow();
  }

  /** Figure 3, left, and Table 5: correlation of queries and key scales. */
  static Optional<Figures> correlation(Conditions conditions) {
    return survey(conditions)
        .map(
            survey -> {
              int layers = conditions.model().config().layers();
              List<Integer> shown =
                  List.of(0, Math.min(16, layers / 2), layers - 1).stream().distinct().toList();
              List<String> columns = new ArrayList<>();
              List<Double> cells = new ArrayList<>();
              for (int layer : shown) {
                columns.add("Layer " + layer);
                cells.add(survey.correlation(layer));
              }
              columns.add("Avg.");
              cells.add(
                  IntStream.range(0, layers)
                      .mapToDouble(survey::correlation)
                      .average()
                      .orElse(Double.NaN));
              double[] values = cells.stream().mapToDouble(Double::doubleValue).toArray();
              return new Figures(columns, List.of(Line.of("Pearson", values)), List.of());
            });
  }

  /** Figure 3, right: spread of query magnitudes, key scales and their products in heads. */
  static Optional<Figures> spread(Conditions conditions) {
    return survey(conditions)
        .map(
            survey ->
                new Figures(
                    List.of("I", "S", "A = I S"),
                    IntStream.range(0, conditions.model().config().cacheShape().kvHeads())
                        .mapToObj(head -> spread(survey, head))
                        .toList(),
                    List.of("cells are the largest of a head's channels over their median")));
  }

  private static Line spread(SalienceSurvey survey, int head) {
    List<Channel> channels =
        survey.channels().stream()
            .filter(channel -> channel.layer() == 0 && channel.head() == head)
            .toList();
    return Line.of(
        "head " + head,
        peak(channels, Channel::query),
        peak(channels, Channel::step),
        peak(channels, channel -> channel.query() * channel.step()));
  }

  private static double peak(List<Channel> channels, ToDoubleFunction<Channel> figure) {
    double[] sorted = channels.stream().mapToDouble(figure).sorted().toArray();
    return sorted[sorted.length - 1] / sorted[sorted.length / 2];
  }

  private static Optional<SalienceSurvey> survey(Conditions conditions) {
    int tokens = conditions.context(4096, 300);
    return SalienceSurvey.measure(
        conditions.model(), Novel.start(tokens), tokens, conditions.listener());
  }

  /** Table 8: share of choosing channels in the time of decoding. */
  static Optional<Figures> overhead(Conditions conditions) {
    int tokens = conditions.context(1024, 160);
    CacheSpec spec = CacheSpec.parse(PaperCaches.suited(PaperCaches.MIXKVQ, conditions.model()));
    DecodeTimes times = DecodeTimes.measure(conditions, spec, tokens);
    double share = 100.0 * times.decode().learnNanos() / times.decodeNanos();
    return Optional.of(
        new Figures(
            List.of("Time Breakdown (%)", "# of Calls (%)"),
            List.of(
                Line.of("Channel Selection", share, 100.0 / 128),
                Line.of("Attention", Double.NaN, 100),
                Line.of("MLP", Double.NaN, 100)),
            List.of(
                "attention and MLP are not timed apart; kvasir bench gpu --parts does so on a"
                    + " GPU")));
  }
}
