package dev.kvasir.runtime;

import dev.kvasir.GenerationListener;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.GenerationParams;
import dev.kvasir.engine.Request;
import dev.kvasir.engine.StateReceiver;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;

/**
 * Reads texts with a decoder for the hidden states of their tokens. To the scheduler they are
 * prompts: they share its steps, and sequences that decode slow down no more than by other prompts.
 */
final class TextReader {
  /** Texts at once: enough to fill a step with short ones. */
  static final int CONCURRENCY = 8;

  private static final SessionOptions OPTIONS = SessionOptions.defaults();
  private static final ThreadFactory THREADS =
      Thread.ofPlatform().daemon().name("kvasir-reader-", 1).factory();

  private final LoadedModel model;

  /**
   * @param purpose plural noun, for the message
   * @throws InvalidInputException if the model's device keeps hidden states to itself
   */
  TextReader(LoadedModel model, String purpose) {
    if (!model.givesHiddenStates()) {
      throw new InvalidInputException(
          "%s: runs on %s; %s need the device cpu"
              .formatted(model.name(), model.device(), purpose));
    }
    this.model = model;
  }

  LoadedModel model() {
    return model;
  }

  /**
   * Reads a text, together with those that other threads read.
   *
   * @param check called at every step; what it throws ends the reading
   */
  void read(int[] tokens, StateReceiver states, Runnable check) {
    check.run();
    try (KvCache cache = model.newCache(CacheSpec.DEFAULT, tokens.length)) {
      Request request = new Request(cache, tokens.length, false, Set.of(), null);
      for (int token : tokens) {
        request.append(token);
      }
      model.scheduler().run(request, GenerationParams.reading(states), new Progress(check));
    }
  }

  /** Reads several texts at once and returns what a function makes of each, in their order. */
  <T> List<T> readAll(List<int[]> texts, int atOnce, Function<int[], T> reader) {
    int threads = Math.min(Math.min(atOnce, CONCURRENCY), texts.size());
    if (threads <= 1) {
      return texts.stream().map(reader).toList();
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(threads, THREADS)) {
      List<Future<T>> futures = new ArrayList<>();
      texts.forEach(text -> futures.add(executor.submit(() -> reader.apply(text))));
      return results(futures);
    }
  }

  private static <T> List<T> results(List<Future<T>> futures) {
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException e) {
      futures.forEach(future -> future.cancel(false));
      throw rethrown(e.getCause());
    } catch (InterruptedException e) {
      futures.forEach(future -> future.cancel(false));
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while texts were read", e);
    }
  }

  private static RuntimeException rethrown(Throwable cause) {
    return switch (cause) {
      case RuntimeException e -> e;
      case Error e -> throw e;
      default -> new IllegalStateException(cause);
    };
  }

  /** Returns the most cache memory that reading a text takes. */
  long maxBytes(int tokens) {
    return model.maxCacheBytes(OPTIONS, tokens);
  }

  private record Progress(Runnable check) implements GenerationListener {
    @Override
    public void text(String piece) {}

    @Override
    public boolean stopped() {
      check.run();
      return false;
    }
  }
}
