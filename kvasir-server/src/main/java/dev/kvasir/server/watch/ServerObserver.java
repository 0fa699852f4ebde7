package dev.kvasir.server.watch;

import dev.kvasir.Generation;
import dev.kvasir.chat.CompletionObserver;

/** Counts completions in the metrics and logs their failures. */
public record ServerObserver(Metrics metrics, ServerLog log) implements CompletionObserver {
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
