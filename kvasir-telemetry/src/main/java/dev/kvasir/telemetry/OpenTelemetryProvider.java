package dev.kvasir.telemetry;

import dev.kvasir.server.watch.Telemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Starts the OpenTelemetry SDK as its environment variables say. Without one that names an exporter
 * or an endpoint nothing is exported.
 */
public final class OpenTelemetryProvider implements Telemetry.Provider {
  private static final String TRACES = "otel.traces.exporter";
  private static final String METRICS = "otel.metrics.exporter";
  private static final String ENDPOINT = "otel.exporter.otlp.endpoint";

  private final UnaryOperator<String> properties;

  public OpenTelemetryProvider() {
    this(OpenTelemetryProvider::configured);
  }

  /**
   * @param properties returns a property of the SDK; null if it is not set
   */
  OpenTelemetryProvider(UnaryOperator<String> properties) {
    this.properties = properties;
  }

  /** Returns a system property, or the environment variable of the same meaning. */
  private static String configured(String property) {
    String variable = property.toUpperCase(Locale.ROOT).replace('.', '_');
    return System.getProperty(property, System.getenv(variable));
  }

  @Override
  public Optional<Telemetry> open() {
    if (List.of(TRACES, METRICS, ENDPOINT).stream()
        .allMatch(one -> properties.apply(one) == null)) {
      return Optional.empty();
    }
    OpenTelemetrySdk sdk =
        AutoConfiguredOpenTelemetrySdk.builder()
            .addPropertiesSupplier(this::defaults)
            .disableShutdownHook()
            .build()
            .getOpenTelemetrySdk();
    return Optional.of(new OpenTelemetryExport(sdk));
  }

  /** An endpoint alone means both; the exporter has no gRPC. */
  private Map<String, String> defaults() {
    String exporter = properties.apply(ENDPOINT) == null ? "none" : "otlp";
    Map<String, String> defaults = new HashMap<>();
    defaults.put(TRACES, exporter);
    defaults.put(METRICS, exporter);
    defaults.put("otel.logs.exporter", "none");
    defaults.put("otel.exporter.otlp.protocol", "http/protobuf");
    defaults.put("otel.service.name", "kvasir");
    return defaults;
  }
}
