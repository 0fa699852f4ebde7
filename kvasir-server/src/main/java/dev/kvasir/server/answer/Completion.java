package dev.kvasir.server.answer;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * An answer in the making, between the threads that compute and the one that writes to the client:
 * what has come waits here, so that a slow reader delays nobody.
 */
public final class Completion {
  /** Why an answer should end before its time. */
  public enum StopCause {
    CLIENT_DISCONNECTED,
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

  /** The next event; null where none has come in this time. */
  public CompletionEvent next(long timeout, TimeUnit unit) throws InterruptedException {
    return events.poll(timeout, unit);
  }

  /** Ends it before the next token. Its memory is free soon after; the first reason counts. */
  public synchronized void stop(StopCause why) {
    stop = stop == null ? why : stop;
  }

  /** Null while it may go on. */
  StopCause stopped() {
    return stop;
  }
}
