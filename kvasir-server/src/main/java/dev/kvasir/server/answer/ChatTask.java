package dev.kvasir.server.answer;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.Session;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.engine.Finish;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.sampling.TokenLogprob;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.server.watch.CacheUsage;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.time.Duration;
import java.util.Optional;

/** Generates one choice of a completion on its own thread, and closes its session. */
final class ChatTask implements GenerationListener {
  private static final long USAGE_INTERVAL_NANOS = 200_000_000;

  private final Completion completion;
  private final CompletionRequest request;
  private final int choice;
  private final Session session;
  private final Metrics metrics;
  private final ServerLog log;
  private final OutputParser text;
  private final long arrivalNanos;
  private final long timeoutNanos;
  private final PrefixHit prefixHit;
  private Runnable onPrefilled;
  private long lastToken;
  private long usageUpdatedAt;
  private volatile CacheUsage cacheUsage;

  /**
   * @param arrivalNanos when the request arrived, by {@link System#nanoTime}
   */
  ChatTask(
      Completion completion,
      CompletionRequest request,
      int choice,
      Session session,
      Services services,
      long arrivalNanos) {
    this.completion = completion;
    this.request = request;
    this.choice = choice;
    this.session = session;
    this.metrics = services.metrics();
    this.log = services.log();
    this.arrivalNanos = arrivalNanos;
    this.timeoutNanos = services.timeout().toNanos();
    this.prefixHit = PrefixHit.of(session, services.store());
    this.text =
        new OutputParser(
            choice, request.stopSequences(), request.parserOptions(), completion::publish);
    this.cacheUsage = CacheUsage.of(session.cache());
  }

  /** The parts of the server that a task uses. */
  record Services(
      Metrics metrics, ServerLog log, Duration timeout, Optional<ConversationStore> store) {}

  CompletionRequest request() {
    return request;
  }

  /** Returns the cache usage of the session, at most a moment old. */
  CacheUsage cacheUsage() {
    return cacheUsage;
  }

  /**
   * @param prefilled called when the prompt has been prefilled, or will not be
   */
  void run(Runnable prefilled) {
    onPrefilled = prefilled;
    CompletionEvent last;
    try (session) {
      Generation generation = session.generate(new int[0], options(), this);
      text.finish();
      metrics.completed(generation, prefixHit.tokens());
      last = finalEvent(generation);
    } catch (CacheFullException e) {
      last = failed(ApiException.busy("the cache is full; try again: " + e.getMessage()));
    } catch (InvalidInputException e) {
      last = failed(ApiException.tooLong(e.getMessage()));
    } catch (RuntimeException e) {
      log.failure("an answer failed", e);
      last = failed(ApiException.internal());
    }
    // The last event follows when all memory is free.
    completion.publish(last);
  }

  private GenerateOptions options() {
    long seed = request.options().sampling().seed() + choice;
    return request.options().withSampling(request.options().sampling().withSeed(seed));
  }

  private CompletionEvent failed(ApiException why) {
    return new CompletionEvent.Failed(choice, why);
  }

  private CompletionEvent finalEvent(Generation generation) {
    Completion.StopCause stop = generation.finish() == Finish.STOPPED ? completion.stopped() : null;
    return switch (stop) {
      case SHUTTING_DOWN -> failed(ApiException.stopping());
      case TIMED_OUT -> failed(ApiException.timedOut(timeoutNanos / 1_000_000_000));
      case CLIENT_DISCONNECTED -> new CompletionEvent.Done(choice, "stop", prefixHit, generation);
      case null ->
          new CompletionEvent.Done(
              choice, finishReason(generation.finish()), prefixHit, generation);
    };
  }

  private String finishReason(Finish finish) {
    return switch (finish) {
      case MAX_TOKENS, CONTEXT_FULL, CACHE_FULL -> "length";
      case END_OF_TEXT, STOPPED -> text.hasToolCalls() ? "tool_calls" : "stop";
    };
  }

  @Override
  public void promptProgress(int tokensDone, int totalTokens) {
    completion.publish(
        new CompletionEvent.PrefillProgress(
            choice, prefixHit.tokens() + tokensDone, prefixHit.tokens() + totalTokens));
    updateCacheUsage();
    if (tokensDone == totalTokens) {
      onPrefilled.run();
    }
  }

  @Override
  public void text(String piece) {
    long now = System.nanoTime();
    metrics.token(lastToken == 0 ? -1 : now - lastToken, now - arrivalNanos);
    lastToken = now;
    text.push(piece);
    updateCacheUsage();
  }

  @Override
  public void likelihood(TokenLogprob token) {
    text.logprob(token);
  }

  private void updateCacheUsage() {
    long now = System.nanoTime();
    if (now - usageUpdatedAt > USAGE_INTERVAL_NANOS) {
      usageUpdatedAt = now;
      cacheUsage = CacheUsage.of(session.cache());
    }
  }

  @Override
  public boolean stopped() {
    if (System.nanoTime() - arrivalNanos > timeoutNanos) {
      completion.stop(Completion.StopCause.TIMED_OUT);
    }
    return completion.stopped() != null || text.hasStopped();
  }
}
