package dev.kvasir.server.http;

import dev.kvasir.KvasirException;
import dev.kvasir.chat.Completion;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.RequestQueue;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;

/** Runs completions and passes their events to writers. */
final class CompletionRunner {
  /** A client that waits this long gets a keep-alive, which also detects a disconnect. */
  static final long KEEPALIVE_SECONDS = 1;

  private final RequestQueue queue;
  private final InFlightResponses inFlight;

  CompletionRunner(RequestQueue queue, InFlightResponses inFlight) {
    this.queue = queue;
    this.inFlight = inFlight;
  }

  /** Counts a response as in progress until this is closed. */
  InFlightResponses.InFlight hold() {
    return inFlight.begin();
  }

  /** Runs a completion to its end. A disconnected client cancels it. */
  void run(CompletionRequest request, CompletionWriter writer)
      throws IOException, InterruptedException {
    try (InFlightResponses.InFlight _ = inFlight.begin()) {
      try {
        follow(start(request, writer), writer);
      } catch (KvasirException e) {
        writer.fail(ApiException.of(e)); // while the response still counts as being written
      }
    }
  }

  private static void follow(Completion completion, CompletionWriter writer)
      throws IOException, InterruptedException {
    Runnable cancel = () -> completion.stop(Completion.StopCause.CANCELLED);
    try {
      writer.begin(completion.promptTokens(), cancel);
      pass(completion, writer);
      writer.end();
    } catch (IOException | InterruptedException | RuntimeException e) {
      cancel.run();
      throw e;
    }
  }

  private static void pass(Completion completion, CompletionWriter writer)
      throws IOException, InterruptedException {
    int left = completion.choices();
    while (left > 0) {
      CompletionEvent event = completion.next(KEEPALIVE_SECONDS, TimeUnit.SECONDS);
      switch (event) {
        case null -> writer.idle("working");
        case CompletionEvent.Failed failed -> throw failed.cause();
        default -> writer.accept(event);
      }
      left -= event instanceof CompletionEvent.Done ? 1 : 0;
    }
  }

  private Completion start(CompletionRequest request, CompletionWriter writer) throws IOException {
    try {
      return queue.begin(request, () -> notifyWaiting(writer));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void notifyWaiting(CompletionWriter writer) {
    try {
      writer.idle("waiting");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
