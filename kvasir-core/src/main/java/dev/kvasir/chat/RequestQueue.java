package dev.kvasir.chat;

import dev.kvasir.KvasirException;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.engine.PrefixCache.CachedPrefix;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Admits requests, runs them concurrently, and can stop all of them. This class is thread-safe. */
public final class RequestQueue {
  private static final ThreadFactory THREADS =
      Thread.ofPlatform().daemon().name("kvasir-answer-", 1).factory();

  private final LoadedModel model;
  private final int contextLimit;
  private final Admission admission;
  private final CompletionObserver observer;
  private final long timeoutNanos;
  private final Set<ChatTask> running = ConcurrentHashMap.newKeySet();
  private final Set<Completion> completions = ConcurrentHashMap.newKeySet();

  /**
   * @param timeout limit on the duration of a completion
   */
  public RequestQueue(
      LoadedModel model,
      int contextLimit,
      Admission admission,
      CompletionObserver observer,
      Duration timeout) {
    this.model = model;
    this.contextLimit = contextLimit;
    this.admission = admission;
    this.observer = observer;
    this.timeoutNanos = timeout.toNanos();
  }

  /**
   * Waits until the request is admitted, then starts it.
   *
   * @param whileWaiting called about once a second until then
   * @throws KvasirException if it is not admitted
   */
  public Completion begin(CompletionRequest request, Runnable whileWaiting) {
    long arrivalNanos = System.nanoTime();
    RequestObserver requestObserver =
        observer.arrived(ServedModel.shortName(model.name()), request);
    try {
      return begin(request, whileWaiting, requestObserver, arrivalNanos);
    } catch (RuntimeException | Error e) {
      requestObserver.failed(
          e instanceof KvasirException rejection
              ? rejection
              : new KvasirException(KvasirException.Reason.FAILED, "it was not admitted", e));
      requestObserver.ended();
      throw e;
    }
  }

  private Completion begin(
      CompletionRequest request,
      Runnable whileWaiting,
      RequestObserver requestObserver,
      long arrivalNanos) {
    checkLength(request);
    SessionOptions options = sessionOptions(request);
    long bytesEach = model.maxCacheBytes(options, request.maxTotalTokens());
    long totalBytes = bytesEach * request.choices();
    List<ModelSession> opened = new ArrayList<>();
    try {
      Admission.Permit permit =
          admission.admit(
              request.choices(),
              totalBytes,
              model.prefixes().hasRemote(),
              () -> open(request, options, bytesEach, opened),
              whileWaiting);
      try {
        requestObserver.admitted();
        return start(request, options, permit, opened.getFirst(), requestObserver, arrivalNanos);
      } catch (RuntimeException | Error e) {
        permit.close();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      opened.forEach(ModelSession::close);
      throw e;
    }
  }

  /** Without a context limit of the service, a cache may hold less than the model's context. */
  private SessionOptions sessionOptions(CompletionRequest request) {
    SessionOptions options =
        SessionOptions.builder().cache(request.kv()).tenant(request.tenant()).build();
    return contextLimit < model.config().contextLength()
        ? options.toBuilder().contextLimit(contextLimit).build()
        : options;
  }

  private void checkLength(CompletionRequest request) {
    if (request.prompt().length >= contextLimit) {
      throw new KvasirException(
          KvasirException.Reason.TOO_LONG,
          "the prompt has %d tokens; the context has room for %d and one to generate"
              .formatted(request.prompt().length, contextLimit - 1));
    }
  }

  private Admission.Need open(
      CompletionRequest request,
      SessionOptions options,
      long bytesEach,
      List<ModelSession> opened) {
    ModelSession session = newSession(request, options);
    opened.add(session);
    CacheBytes bytes = session.cache().bytes();
    CachedPrefix sharedPrefix = session.sharedPrefix().orElse(null);
    long sharedBytes =
        sharedPrefix == null ? 0 : Math.min(bytesEach, bytes.codes() + bytes.scales());
    return new Admission.Need(
        request.choices(),
        (bytesEach - sharedBytes) * request.choices(),
        sharedPrefix,
        sharedBytes);
  }

  private ModelSession newSession(CompletionRequest request, SessionOptions options) {
    return model.newSession(options, request.prompt(), request.conversation().orElse(null));
  }

  /** Starts the choices, or none if the first one has no thread, as in a process at its limit. */
  private Completion start(
      CompletionRequest request,
      SessionOptions options,
      Admission.Permit permit,
      ModelSession first,
      RequestObserver requestObserver,
      long arrivalNanos) {
    Completion completion = new Completion(request.choices(), request.prompt().length);
    AtomicInteger left = new AtomicInteger(request.choices());
    CountDownLatch firstPrefilled = new CountDownLatch(1);
    completions.add(completion);
    Runnable endChoice =
        () -> {
          if (left.decrementAndGet() == 0) {
            requestObserver.ended();
            completions.remove(completion);
            permit.close();
          }
        };
    for (int i = 0; i < request.choices(); i++) {
      int choice = i;
      Runnable task =
          () -> {
            try {
              run(
                  request,
                  options,
                  completion,
                  choice,
                  first,
                  requestObserver,
                  arrivalNanos,
                  firstPrefilled);
            } finally {
              endChoice.run();
            }
          };
      try {
        THREADS.newThread(task).start();
      } catch (RuntimeException | Error e) {
        if (choice == 0) {
          completions.remove(completion);
          throw e;
        }
        completion.publish(failed(choice, e));
        endChoice.run();
      }
    }
    return completion;
  }

  private static CompletionEvent failed(int choice, Throwable e) {
    return new CompletionEvent.Failed(
        choice, new KvasirException(KvasirException.Reason.FAILED, "the completion failed", e));
  }

  /** Runs one choice. Further choices start from the prompt that the first one prefilled. */
  private void run(
      CompletionRequest request,
      SessionOptions options,
      Completion completion,
      int choice,
      ModelSession first,
      RequestObserver requestObserver,
      long arrivalNanos,
      CountDownLatch firstPrefilled) {
    try {
      if (choice > 0) {
        firstPrefilled.await();
      }
      ModelSession session = choice == 0 ? first : newSession(request, options);
      PrefixHit prefixHit = PrefixHit.of(session, model.prefixes());
      ChatTask task =
          new ChatTask(
              completion,
              request,
              choice,
              session,
              prefixHit,
              observer,
              requestObserver,
              arrivalNanos,
              timeoutNanos);
      running.add(task);
      try {
        task.run(choice == 0 ? firstPrefilled::countDown : () -> {});
      } finally {
        running.remove(task);
      }
    } catch (InterruptedException | RuntimeException | Error e) {
      completion.publish(failed(choice, e));
    } finally {
      firstPrefilled.countDown();
    }
  }

  /** A running request and its memory. */
  public record Running(CompletionRequest request, CacheUsage cacheUsage) {}

  public List<Running> running() {
    return running.stream().map(task -> new Running(task.request(), task.cacheUsage())).toList();
  }

  /** Stops admitting requests and ends the running ones. Returns whether all ended in time. */
  public boolean stop(Duration timeout) throws InterruptedException {
    admission.stop();
    long end = System.nanoTime() + timeout.toNanos();
    do {
      completions.forEach(completion -> completion.stop(Completion.StopCause.SHUTTING_DOWN));
      TimeUnit.MILLISECONDS.sleep(10);
    } while (!isIdle() && System.nanoTime() < end);
    return isIdle();
  }

  /** Work other than completions has permits too. */
  private boolean isIdle() {
    return completions.isEmpty() && admission.running() == 0;
  }
}
