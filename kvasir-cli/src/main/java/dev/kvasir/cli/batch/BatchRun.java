package dev.kvasir.cli.batch;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.OfflineServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/** Runs the lines of a batch file, many at once, and writes each when it is done. */
final class BatchRun {
  private static final long POLL_MILLIS = 100;

  private final Path input;
  private final BatchOutput output;
  private final Endpoint endpoint;
  private final BooleanSupplier interrupted;
  private final Semaphore places;
  private final int concurrency;
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private long skipped;

  /** Answers a request. */
  interface Endpoint {
    OfflineServer.Response post(String path, String body) throws Exception;
  }

  /** Shows how many lines are done, those of earlier runs included. */
  interface Listener {
    void progress(long done, long skipped);
  }

  /**
   * @param done lines that this run has written
   * @param failed those of them without a successful response
   * @param skipped lines that an earlier run has written
   */
  record Summary(long done, long failed, long skipped) {}

  /**
   * @param concurrency requests at once
   * @param interrupted whether to start no further request, and to drop those that run
   */
  BatchRun(
      Path input,
      BatchOutput output,
      Endpoint endpoint,
      int concurrency,
      BooleanSupplier interrupted) {
    this.input = input;
    this.output = output;
    this.endpoint = endpoint;
    this.interrupted = interrupted;
    this.concurrency = concurrency;
    this.places = new Semaphore(concurrency);
  }

  /**
   * Returns the number of lines that are not blank.
   *
   * @throws InvalidInputException if the file cannot be read
   */
  static long count(Path input) {
    try (BufferedReader lines = Files.newBufferedReader(input)) {
      return lines.lines().filter(line -> !line.isBlank()).count();
    } catch (NoSuchFileException e) {
      throw new InvalidInputException(input + ": no such file", e);
    } catch (IOException | java.io.UncheckedIOException e) {
      throw new InvalidInputException(
          "%s: cannot be read as UTF-8: %s".formatted(input, e.getMessage()), e);
    }
  }

  /** Runs the lines in their order; returns early if interrupted. */
  Summary run(Listener listener) throws InterruptedException {
    Set<String> ids = new HashSet<>();
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    try (BufferedReader lines = Files.newBufferedReader(input)) {
      long number = 0;
      for (String text = lines.readLine(); text != null && !isEnding(); text = lines.readLine()) {
        number++;
        if (!text.isBlank()) {
          take(BatchRequest.parse(number, text, ids), threads, listener);
        }
      }
    } catch (IOException e) {
      throw new InvalidInputException("%s: %s".formatted(input, e.getMessage()), e);
    }
    while (!isEnding() && !places.tryAcquire(concurrency, POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      listener.progress(done.get(), skipped);
    }
    listener.progress(done.get(), skipped);
    if (failure.get() != null) {
      throw failure.get();
    }
    return new Summary(done.get(), failed.get(), skipped);
  }

  private boolean isEnding() {
    return failure.get() != null || interrupted.getAsBoolean();
  }

  private void take(BatchRequest request, ExecutorService threads, Listener listener)
      throws InterruptedException {
    if (output.has(request)) {
      skipped++;
      return;
    }
    while (!places.tryAcquire(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      listener.progress(done.get(), skipped);
      if (isEnding()) {
        return;
      }
    }
    threads.execute(
        () -> {
          try {
            answer(request);
          } catch (RuntimeException e) {
            failure.compareAndSet(null, e);
          } catch (Error e) {
            failure.compareAndSet(null, new IllegalStateException(e));
          } finally {
            places.release();
          }
        });
  }

  private void answer(BatchRequest request) {
    boolean succeeded = request.mistake() == null && respond(request);
    if (request.mistake() != null) {
      output.writeError(request, "invalid_request", request.mistake());
    }
    failed.addAndGet(succeeded ? 0 : 1);
    done.incrementAndGet();
  }

  private boolean respond(BatchRequest request) {
    int status;
    JsonElement body;
    try {
      OfflineServer.Response response = endpoint.post(request.url(), request.body().toString());
      body = JsonParser.parseString(response.body());
      // A long request has begun its response before it fails.
      boolean isError = body.isJsonObject() && hasError(body.getAsJsonObject());
      status = isError && response.status() == 200 ? 500 : response.status();
    } catch (Exception e) {
      if (!isEnding()) {
        output.writeError(request, "server_error", "the request failed: " + e);
      }
      return false;
    }
    if (!isEnding() || status == 200) {
      output.write(request, status, body);
    }
    return status == 200;
  }

  /** Responses of the Responses API have an error that is null. */
  private static boolean hasError(JsonObject body) {
    return body.has("error") && !body.get("error").isJsonNull();
  }
}
