package dev.kvasir.chat;

import dev.kvasir.ChatResponse.FinishReason;
import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.GenerationListener;
import dev.kvasir.KvasirException;
import dev.kvasir.KvasirException.Reason;
import dev.kvasir.TokenLogprob;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.ModelSession;

/** Generates one choice of a completion on its own thread, and closes its session. */
final class ChatTask implements GenerationListener {
  private static final long USAGE_INTERVAL_NANOS = 200_000_000;

  private final Completion completion;
  private final CompletionRequest request;
  private final int choice;
  private final ModelSession session;
  private final CompletionObserver observer;
  private final RequestObserver requestObserver;
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
      ModelSession session,
      PrefixHit prefixHit,
      CompletionObserver observer,
      RequestObserver requestObserver,
      long arrivalNanos,
      long timeoutNanos) {
    this.completion = completion;
    this.request = request;
    this.choice = choice;
    this.session = session;
    this.observer = observer;
    this.requestObserver = requestObserver;
    this.arrivalNanos = arrivalNanos;
    this.timeoutNanos = timeoutNanos;
    this.prefixHit = prefixHit;
    this.text =
        new OutputParser(
            choice, request.stopSequences(), request.parserOptions(), completion::publish);
    this.cacheUsage = CacheUsage.of(session.cache());
  }

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
      observer.completed(generation, prefixHit.tokens());
      last = finalEvent(generation);
    } catch (CacheFullException e) {
      last = failed(Reason.BUSY, "the cache is full; try again: " + e.getMessage(), e);
    } catch (InvalidInputException e) {
      last = failed(Reason.TOO_LONG, e.getMessage(), e);
    } catch (RuntimeException | Error e) { // a client would wait for the last event forever
      observer.failed(e);
      last = failed(Reason.FAILED, "the completion failed", e);
    }
    switch (last) {
      case CompletionEvent.Done done -> requestObserver.done(done);
      case CompletionEvent.Failed failed -> requestObserver.failed(failed.cause());
      default -> throw new IllegalStateException("no last event: " + last);
    }
    // The last event follows when all memory is free.
    completion.publish(last);
  }

  private GenerationSettings options() {
    long seed = request.options().sampling().seed() + choice;
    return request
        .options()
        .withSampling(request.options().sampling().toBuilder().seed(seed).build());
  }

  private CompletionEvent failed(Reason reason, String message, Throwable cause) {
    return new CompletionEvent.Failed(choice, new KvasirException(reason, message, cause));
  }

  private CompletionEvent finalEvent(Generation generation) {
    Completion.StopCause stop = generation.finish() == Finish.STOPPED ? completion.stopped() : null;
    return switch (stop) {
      case SHUTTING_DOWN -> new CompletionEvent.Failed(choice, Admission.closed());
      case TIMED_OUT ->
          failed(
              Reason.TIMED_OUT,
              "the answer took longer than %d seconds".formatted(timeoutNanos / 1_000_000_000),
              null);
      case CANCELLED -> done(FinishReason.STOP, generation);
      case null -> done(finishReason(generation.finish()), generation);
    };
  }

  private CompletionEvent done(FinishReason reason, Generation generation) {
    return new CompletionEvent.Done(choice, reason, text.stopSequence(), prefixHit, generation);
  }

  private FinishReason finishReason(Finish finish) {
    return switch (finish) {
      case MAX_TOKENS, CONTEXT_FULL, CACHE_FULL -> FinishReason.LENGTH;
      case END_OF_TEXT, STOPPED ->
          text.hasToolCalls() ? FinishReason.TOOL_CALLS : FinishReason.STOP;
    };
  }

  @Override
  public void promptProgress(int tokensDone, int totalTokens) {
    completion.publish(
        new CompletionEvent.PrefillProgress(
            choice, prefixHit.tokens() + tokensDone, prefixHit.tokens() + totalTokens));
    updateCacheUsage();
    if (tokensDone == totalTokens) {
      requestObserver.prefilled(choice);
      onPrefilled.run();
    }
  }

  @Override
  public void text(String piece) {
    long now = System.nanoTime();
    observer.piece(lastToken == 0 ? -1 : now - lastToken, now - arrivalNanos);
    if (lastToken == 0) {
      requestObserver.firstText(choice);
    }
    lastToken = now;
    text.push(piece);
    updateCacheUsage();
  }

  @Override
  public void logprob(TokenLogprob token) {
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
