package dev.kvasir.telemetry;

import dev.kvasir.KvasirException;
import dev.kvasir.SamplingOptions;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.RequestObserver;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The span of one request. Its events end its phases: {@code kvasir.admitted} the wait in the
 * queue, {@code kvasir.prefilled} the prompt, {@code kvasir.first_text} the time to the first
 * token.
 */
final class RequestSpan implements RequestObserver {
  static final AttributeKey<String> OPERATION = AttributeKey.stringKey("gen_ai.operation.name");
  static final AttributeKey<String> PROVIDER = AttributeKey.stringKey("gen_ai.provider.name");
  static final AttributeKey<String> REQUEST_MODEL = AttributeKey.stringKey("gen_ai.request.model");
  static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
  private static final AttributeKey<Long> CHOICE = AttributeKey.longKey("kvasir.choice");
  private static final AttributeKey<List<String>> FINISH_REASONS =
      AttributeKey.stringArrayKey("gen_ai.response.finish_reasons");

  private final Span span;
  private final GenerativeMetrics metrics;
  private final Attributes labels;
  private final CompletionRequest request;
  private final long arrival = System.nanoTime();
  private final Map<Integer, String> finishReasons = new TreeMap<>(); // by choice
  private boolean hasText;
  private long generated;
  private long cached;
  private String error; // null for none

  RequestSpan(
      Span span,
      GenerativeMetrics metrics,
      String operation,
      String model,
      CompletionRequest request) {
    this.span = span;
    this.metrics = metrics;
    this.request = request;
    this.labels = Attributes.of(OPERATION, operation, PROVIDER, "kvasir", REQUEST_MODEL, model);
  }

  /** A request whose text is parsed came as messages. */
  static String operation(CompletionRequest request) {
    return request.parserOptions().syntax().isPresent() ? "chat" : "text_completion";
  }

  static Attributes attributes(String operation, String model, CompletionRequest request) {
    SamplingOptions sampling = request.options().sampling();
    AttributesBuilder attributes =
        Attributes.builder()
            .put(OPERATION, operation)
            .put(PROVIDER, "kvasir")
            .put(REQUEST_MODEL, model)
            .put("gen_ai.response.model", model)
            .put("gen_ai.request.max_tokens", request.options().maxTokens())
            .put("gen_ai.request.temperature", sampling.temperature())
            .put("gen_ai.usage.input_tokens", request.prompt().length)
            .put("kvasir.cache", request.kv().text());
    if (request.choices() > 1) {
      attributes.put("gen_ai.request.choice.count", request.choices());
    }
    return attributes.build();
  }

  @Override
  public void admitted() {
    span.addEvent("kvasir.admitted");
  }

  @Override
  public void prefilled(int choice) {
    span.addEvent("kvasir.prefilled", Attributes.of(CHOICE, (long) choice));
  }

  @Override
  public synchronized void firstText(int choice) {
    span.addEvent("kvasir.first_text", Attributes.of(CHOICE, (long) choice));
    if (!hasText) {
      hasText = true;
      metrics.timeToFirstToken(System.nanoTime() - arrival, labels);
    }
  }

  @Override
  public synchronized void done(CompletionEvent.Done last) {
    finishReasons.put(last.choice(), last.finishReason().name().toLowerCase(Locale.ROOT));
    cached = Math.max(cached, last.prefixHit().tokens());
    generated += last.generation().generatedTokens();
    metrics.timePerOutputToken(last.generation(), labels);
  }

  @Override
  public synchronized void failed(KvasirException cause) {
    error = cause.reason().name().toLowerCase(Locale.ROOT);
  }

  @Override
  public synchronized void ended() {
    span.setAttribute("gen_ai.usage.output_tokens", generated);
    span.setAttribute("gen_ai.usage.cache_read.input_tokens", cached);
    span.setAttribute(FINISH_REASONS, List.copyOf(finishReasons.values()));
    Attributes all = labels;
    if (error != null) {
      span.setAttribute(ERROR, error);
      span.setStatus(StatusCode.ERROR);
      all = labels.toBuilder().put(ERROR, error).build();
    }
    metrics.duration(System.nanoTime() - arrival, all);
    span.end();
  }
}
