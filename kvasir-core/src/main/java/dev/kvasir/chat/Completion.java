package dev.kvasir.chat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A completion in progress: a queue of events between the threads that generate and the one that
 * consumes them. A slow consumer therefore delays no other request.
 */
public final class Completion {
  /** Why a completion stops early. */
  public enum StopCause {
    CANCELLED,
    SHUTTING_DOWN,
    TIMED_OUT
  }

  private final BlockingQueue<CompletionEvent> events = new LinkedBlockingQueue<>();
  private final int choices;
  private final int promptTokens;
  private volatile StopCause stop;

  Completion(int choices, int promptTokens) {
    this.choices = choices;
    this.promptTokens = promptTokens;
  }

  public int choices() {
    return choices;
  }

  public int promptTokens() {
    return promptTokens;
  }

  void publish(CompletionEvent event) {
    events.add(event);
  }

  /** Returns the next event, or null if none arrives in time. */
  public CompletionEvent next(long timeout, TimeUnit unit) throws InterruptedException {
    return events.poll(timeout, unit);
  }

  /** Stops before the next token; the memory is freed soon after. The first cause wins. */
  public synchronized void stop(StopCause why) {
    stop = stop == null ? why : stop;
  }

  /** Returns the cause, or null while the completion may continue. */
  StopCause stopped() {
    return stop;
  }
}
