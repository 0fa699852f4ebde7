package dev.kvasir.server.answer;

import dev.kvasir.Model;
import dev.kvasir.Session;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.server.watch.CacheAccount;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers requests: lets them in, runs them side by side, and can end them all. */
public final class Answers {
  private static final ThreadFactory THREADS =
      Thread.ofPlatform().daemon().name("kvasir-answer-", 1).factory();

  private final Model model;
  private final int contextLimit;
  private final Admission admission;
  private final AnswerTask.Services services;
  private final Set<AnswerTask> running = ConcurrentHashMap.newKeySet();
  private final Set<Answer> answers = ConcurrentHashMap.newKeySet();

  /**
   * @param timeout after which an answer is broken off
   */
  public Answers(
      Model model,
      int contextLimit,
      Admission admission,
      Metrics metrics,
      ServerLog log,
      Duration timeout,
      Optional<ConversationStore> store) {
    this.model = model;
    this.contextLimit = contextLimit;
    this.admission = admission;
    this.services = new AnswerTask.Services(metrics, log, timeout, store);
  }

  /**
   * Begins an answer as soon as there is room for it.
   *
   * @param whileWaiting called about once a second until then
   * @throws ApiException where there will be none
   */
  public Answer begin(AnswerRequest request, Runnable whileWaiting) {
    long arrived = System.nanoTime();
    checkLength(request);
    SessionOptions options = sessionOptions(request);
    long each = model.mostCacheBytes(options, request.mostTokens());
    long all = each * request.choices();
    List<Session> opened = new ArrayList<>();
    try {
      Admission.Place place =
          admission.admit(
              request.choices(),
              all,
              model.prefixes().looksElsewhere(),
              () -> open(request, options, each, opened),
              whileWaiting);
      return start(request, options, place, opened.getFirst(), arrived);
    } catch (RuntimeException e) {
      opened.forEach(Session::close);
      throw e;
    }
  }

  /** Without a limit of the server's own, a cache may hold less than the model could. */
  private SessionOptions sessionOptions(AnswerRequest request) {
    SessionOptions options =
        SessionOptions.defaults().withCache(request.kv()).withTenant(request.tenant());
    return contextLimit < model.config().contextLength()
        ? options.withContextLimit(contextLimit)
        : options;
  }

  private void checkLength(AnswerRequest request) {
    if (request.prompt().length >= contextLimit) {
      throw ApiException.tooLong(
          "the prompt has %d tokens; the context has room for %d and one to generate"
              .formatted(request.prompt().length, contextLimit - 1));
    }
  }

  private Admission.Need open(
      AnswerRequest request, SessionOptions options, long each, List<Session> opened) {
    Session session = newSession(request, options);
    opened.add(session);
    CacheBytes bytes = session.cache().bytes();
    Object source = session.sharedSource().orElse(null);
    long shared = source == null ? 0 : Math.min(each, bytes.codes() + bytes.scales());
    return new Admission.Need(
        request.choices(), (each - shared) * request.choices(), source, shared);
  }

  private Session newSession(AnswerRequest request, SessionOptions options) {
    return model.newSession(options, request.prompt(), request.conversation().orElse(null));
  }

  private Answer start(
      AnswerRequest request,
      SessionOptions options,
      Admission.Place place,
      Session first,
      long arrived) {
    Answer answer = new Answer(request.choices(), request.prompt().length);
    AtomicInteger left = new AtomicInteger(request.choices());
    CountDownLatch firstHasRead = new CountDownLatch(1);
    answers.add(answer);
    for (int i = 0; i < request.choices(); i++) {
      int choice = i;
      THREADS
          .newThread(
              () -> {
                try {
                  run(request, options, answer, choice, first, arrived, firstHasRead);
                } finally {
                  if (left.decrementAndGet() == 0) {
                    answers.remove(answer);
                    place.close();
                  }
                }
              })
          .start();
    }
    return answer;
  }

  /** Further choices begin from what the first has read. */
  private void run(
      AnswerRequest request,
      SessionOptions options,
      Answer answer,
      int choice,
      Session first,
      long arrived,
      CountDownLatch firstHasRead) {
    try {
      if (choice > 0) {
        firstHasRead.await();
      }
      Session session = choice == 0 ? first : newSession(request, options);
      AnswerTask task = new AnswerTask(answer, request, choice, session, services, arrived);
      running.add(task);
      try {
        task.run(choice == 0 ? firstHasRead::countDown : () -> {});
      } finally {
        running.remove(task);
      }
    } catch (InterruptedException | RuntimeException e) {
      answer.tell(new AnswerEvent.Failed(choice, ApiException.internal()));
    } finally {
      firstHasRead.countDown();
    }
  }

  /** Something that runs, as others see it. */
  public record Running(AnswerRequest request, CacheAccount account) {}

  public List<Running> running() {
    return running.stream().map(task -> new Running(task.request(), task.account())).toList();
  }

  /** Lets nobody in any more and ends what runs; answers whether all had ended in this time. */
  public boolean stop(Duration patience) throws InterruptedException {
    admission.stop();
    long end = System.nanoTime() + patience.toNanos();
    do {
      answers.forEach(answer -> answer.stop(Answer.Stop.SHUTTING_DOWN));
      TimeUnit.MILLISECONDS.sleep(10);
    } while (!answers.isEmpty() && System.nanoTime() < end);
    return answers.isEmpty();
  }
}
