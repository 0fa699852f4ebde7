package dev.kvasir.spring;

import dev.kvasir.ChatModel;
import dev.kvasir.ChatModel.Load;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * Micrometer's meters of the queue, the KV-cache memory and the prefix cache. Durations and tokens
 * of calls are observations of Spring AI.
 */
public final class KvasirMeters implements MeterBinder {
  private static final String BYTES = "bytes";

  private final ChatModel chatModel;

  public KvasirMeters(ChatModel chatModel) {
    this.chatModel = chatModel;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    gauge(registry, "kvasir.sequences.running", null, "Running sequences.", Load::running);
    gauge(registry, "kvasir.requests.waiting", null, "Queued requests.", Load::queued);
    gauge(registry, "kvasir.kv.used", BYTES, "KV-cache memory in use.", Load::usedBytes);
    gauge(registry, "kvasir.kv.reserved", BYTES, "Reserved KV-cache memory.", Load::reservedBytes);
    gauge(registry, "kvasir.kv.limit", BYTES, "KV-cache memory limit.", Load::limitBytes);
    counter(registry, "kvasir.prefix.queries", "Prefix cache lookups.", Load::prefixQueries);
    counter(registry, "kvasir.prefix.hits", "Prefix cache hits.", Load::prefixHits);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String unit,
      String description,
      ToDoubleFunction<Load> value) {
    Gauge.builder(name, chatModel, model -> value.applyAsDouble(model.load()))
        .baseUnit(unit)
        .description(description)
        .register(registry);
  }

  private void counter(
      MeterRegistry registry, String name, String description, ToDoubleFunction<Load> value) {
    FunctionCounter.builder(name, chatModel, model -> value.applyAsDouble(model.load()))
        .description(description)
        .register(registry);
  }
}
