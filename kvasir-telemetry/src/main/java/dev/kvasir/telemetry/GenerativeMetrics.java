package dev.kvasir.telemetry;

import dev.kvasir.Generation;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import java.util.List;

/** The histograms of a model server in OpenTelemetry's conventions, with their bucket bounds. */
final class GenerativeMetrics {
  private static final double NANOS = 1e-9;
  private static final List<Double> DURATIONS =
      List.of(
          0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92);
  private static final List<Double> FIRST_TOKENS =
      List.of(
          0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5,
          10.0);
  private static final List<Double> TOKENS =
      List.of(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5);

  private final DoubleHistogram duration;
  private final DoubleHistogram timeToFirstToken;
  private final DoubleHistogram timePerOutputToken;

  GenerativeMetrics(Meter meter) {
    duration = histogram(meter, "gen_ai.server.request.duration", DURATIONS);
    timeToFirstToken = histogram(meter, "gen_ai.server.time_to_first_token", FIRST_TOKENS);
    timePerOutputToken = histogram(meter, "gen_ai.server.time_per_output_token", TOKENS);
  }

  private static DoubleHistogram histogram(Meter meter, String name, List<Double> bounds) {
    return meter
        .histogramBuilder(name)
        .setUnit("s")
        .setExplicitBucketBoundariesAdvice(bounds)
        .build();
  }

  void duration(long nanos, Attributes labels) {
    duration.record(nanos * NANOS, labels);
  }

  void timeToFirstToken(long nanos, Attributes labels) {
    timeToFirstToken.record(nanos * NANOS, labels);
  }

  /** Records the mean of a choice after its first token. */
  void timePerOutputToken(Generation generation, Attributes labels) {
    int following = generation.generatedTokens() - 1;
    if (following > 0) {
      timePerOutputToken.record(generation.generationNanos() * NANOS / following, labels);
    }
  }
}
