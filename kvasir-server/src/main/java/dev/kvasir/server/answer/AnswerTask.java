package dev.kvasir.server.answer;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.Session;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.engine.Finish;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.sampling.TokenLikelihood;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.server.watch.CacheAccount;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.time.Duration;
import java.util.Optional;

/** Generates one choice of an answer, on a thread of its own, and closes its session. */
final class AnswerTask implements GenerationListener {
  private static final long ACCOUNT_NANOS = 200_000_000;

  private final Answer answer;
  private final AnswerRequest request;
  private final int choice;
  private final Session session;
  private final Metrics metrics;
  private final ServerLog log;
  private final AnswerText text;
  private final long arrived;
  private final long timeoutNanos;
  private final Known known;
  private Runnable hasRead;
  private long lastToken;
  private long accountAt;
  private volatile CacheAccount account;

  /**
   * @param arrived when the request came, by {@link System#nanoTime}
   */
  AnswerTask(
      Answer answer,
      AnswerRequest request,
      int choice,
      Session session,
      Services services,
      long arrived) {
    this.answer = answer;
    this.request = request;
    this.choice = choice;
    this.session = session;
    this.metrics = services.metrics();
    this.log = services.log();
    this.arrived = arrived;
    this.timeoutNanos = services.timeout().toNanos();
    this.known = Known.of(session, services.store());
    this.text = new AnswerText(choice, request.stops(), request.splitting(), answer::tell);
    this.account = CacheAccount.of(session.cache());
  }

  /** What a task needs of its server. */
  record Services(
      Metrics metrics, ServerLog log, Duration timeout, Optional<ConversationStore> store) {}

  AnswerRequest request() {
    return request;
  }

  /** What its session held a moment ago. */
  CacheAccount account() {
    return account;
  }

  /**
   * @param read called when the prompt has been read, or will not be
   */
  void run(Runnable read) {
    hasRead = read;
    AnswerEvent last;
    try (session) {
      Generation made = session.generate(new int[0], options(), this);
      text.finish();
      metrics.answered(made, known.tokens());
      last = end(made);
    } catch (CacheFullException e) {
      last = failed(ApiException.busy("the cache is full; try again: " + e.getMessage()));
    } catch (InvalidInputException e) {
      last = failed(ApiException.tooLong(e.getMessage()));
    } catch (RuntimeException e) {
      log.failure("an answer failed", e);
      last = failed(ApiException.internal());
    }
    // The last word comes when all memory is free.
    answer.tell(last);
  }

  private GenerateOptions options() {
    long seed = request.options().sampling().seed() + choice;
    return request.options().withSampling(request.options().sampling().withSeed(seed));
  }

  private AnswerEvent failed(ApiException why) {
    return new AnswerEvent.Failed(choice, why);
  }

  private AnswerEvent end(Generation made) {
    Answer.Stop stop = made.finish() == Finish.STOPPED ? answer.stopped() : null;
    return switch (stop) {
      case SHUTTING_DOWN -> failed(ApiException.stopping());
      case TIMED_OUT -> failed(ApiException.timedOut(timeoutNanos / 1_000_000_000));
      case CLIENT_GONE -> new AnswerEvent.Done(choice, "stop", known, made);
      case null -> new AnswerEvent.Done(choice, reason(made.finish()), known, made);
    };
  }

  private String reason(Finish finish) {
    return switch (finish) {
      case MAX_TOKENS, CONTEXT_FULL, CACHE_FULL -> "length";
      case END_OF_TEXT, STOPPED -> text.hasCalled() ? "tool_calls" : "stop";
    };
  }

  @Override
  public void prompt(int tokensDone, int tokensInAll) {
    answer.tell(
        new AnswerEvent.Reading(choice, known.tokens() + tokensDone, known.tokens() + tokensInAll));
    takeAccount();
    if (tokensDone == tokensInAll) {
      hasRead.run();
    }
  }

  @Override
  public void text(String piece) {
    long now = System.nanoTime();
    metrics.token(lastToken == 0 ? -1 : now - lastToken, now - arrived);
    lastToken = now;
    text.push(piece);
    takeAccount();
  }

  @Override
  public void likelihood(TokenLikelihood token) {
    text.likelihood(token);
  }

  private void takeAccount() {
    long now = System.nanoTime();
    if (now - accountAt > ACCOUNT_NANOS) {
      accountAt = now;
      account = CacheAccount.of(session.cache());
    }
  }

  @Override
  public boolean stopped() {
    if (System.nanoTime() - arrived > timeoutNanos) {
      answer.stop(Answer.Stop.TIMED_OUT);
    }
    return answer.stopped() != null || text.hasStopped();
  }
}
