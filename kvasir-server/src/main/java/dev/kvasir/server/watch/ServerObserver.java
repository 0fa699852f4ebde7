package dev.kvasir.server.watch;

import dev.kvasir.Generation;
import dev.kvasir.chat.CompletionObserver;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.RequestObserver;

/** Counts completions in the metrics, logs their failures and traces them. */
public record ServerObserver(Metrics metrics, ServerLog log, Telemetry telemetry)
    implements CompletionObserver {
  @Override
  public RequestObserver arrived(String model, CompletionRequest request) {
    return telemetry.arrived(model, request);
  }

  @Override
  public void piece(long gapNanos, long sinceArrival) {
    metrics.token(gapNanos, sinceArrival);
  }

  @Override
  public void completed(Generation generation, int cached) {
    metrics.completed(generation, cached);
  }

  @Override
  public void failed(Throwable cause) {
    log.failure("an answer failed", cause);
  }
}
