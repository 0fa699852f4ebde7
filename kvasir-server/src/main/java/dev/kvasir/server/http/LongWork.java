package dev.kvasir.server.http;

import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** Work for a response that is not a stream, during which its connection is kept alive. */
final class LongWork {
  private LongWork() {}

  /**
   * Returns the result of work on another thread.
   *
   * @param work gets what it calls often, which ends it with an exception after a disconnect
   * @throws IOException if the client has disconnected
   */
  static <T> T run(Exchange exchange, Function<Runnable, T> work)
      throws IOException, InterruptedException {
    AtomicBoolean isCancelled = new AtomicBoolean();
    Runnable mayGoOn =
        () -> {
          if (isCancelled.get()) {
            throw new CancellationException("the client has disconnected");
          }
        };
    try (ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<T> result = thread.submit(() -> work.apply(mayGoOn));
      try {
        return await(result, exchange);
      } finally {
        isCancelled.set(true); // closing the executor waits for the work
      }
    }
  }

  private static <T> T await(Future<T> result, Exchange exchange)
      throws IOException, InterruptedException {
    while (true) {
      try {
        return result.get(1, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        exchange.keepAlive(false, "working");
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case RuntimeException failure -> throw failure;
          case Error failure -> throw failure;
          default -> throw new IllegalStateException(e.getCause());
        }
      }
    }
  }
}
