package dev.kvasir.telemetry;

import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.RequestObserver;
import dev.kvasir.server.watch.Telemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A span per request, and histograms, with the names of OpenTelemetry's conventions for generative
 * AI. Neither contains text of prompts or completions.
 */
final class OpenTelemetryExport implements Telemetry {
  private static final String SCOPE = "dev.kvasir";
  private static final TextMapGetter<UnaryOperator<String>> HEADERS = new HeaderGetter();

  private final OpenTelemetrySdk sdk;
  private final Tracer tracer;
  private final GenerativeMetrics metrics;

  OpenTelemetryExport(OpenTelemetrySdk sdk) {
    this.sdk = sdk;
    this.tracer = sdk.getTracer(SCOPE);
    this.metrics = new GenerativeMetrics(sdk.getMeter(SCOPE));
  }

  private static final class HeaderGetter implements TextMapGetter<UnaryOperator<String>> {
    /** Propagators ask for the headers that they know. */
    @Override
    public Iterable<String> keys(UnaryOperator<String> headers) {
      return List.of();
    }

    @Override
    public String get(UnaryOperator<String> headers, String name) {
      return headers == null ? null : headers.apply(name);
    }
  }

  @Override
  public Scope continueTrace(UnaryOperator<String> headers) {
    Context context =
        sdk.getPropagators().getTextMapPropagator().extract(Context.current(), headers, HEADERS);
    return context.makeCurrent()::close;
  }

  @Override
  public RequestObserver arrived(String model, CompletionRequest request) {
    String operation = RequestSpan.operation(request);
    Span span =
        tracer
            .spanBuilder(operation + " " + model)
            .setSpanKind(SpanKind.SERVER)
            .setAllAttributes(RequestSpan.attributes(operation, model, request))
            .startSpan();
    return new RequestSpan(span, metrics, operation, model, request);
  }

  @Override
  public void close() {
    sdk.close();
  }
}
