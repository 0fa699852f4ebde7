package dev.kvasir;

/** Thrown when a chat request is refused or its completion fails. The message is one sentence. */
public final class ChatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** What a caller can do about a failure. */
  public enum Reason {
    /** The request can never succeed. */
    INVALID_REQUEST,
    /** The prompt exceeds the context or the memory of all caches. */
    TOO_LONG,
    /** Too many requests are queued, or the memory is full; a retry may succeed. */
    BUSY,
    /** The completion took longer than the chat model allows. */
    TIMED_OUT,
    /** The chat model is closed. */
    CLOSED,
    /** An internal error; its cause is attached. */
    FAILED
  }

  public ChatException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  public ChatException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
