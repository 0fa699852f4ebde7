package dev.kvasir.langchain4j;

import dev.kvasir.server.api.ApiException;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.LangChain4jException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;

/** Refusals by the exceptions that tell users of LangChain4j whether to try again. */
final class Refusals {
  private static final int BUSY = 429;
  private static final int TIMED_OUT = 504;
  private static final int LEAST_OF_SERVER = 500;

  private Refusals() {}

  static LangChain4jException of(ApiException refusal) {
    String message = refusal.getMessage();
    int status = refusal.status();
    if (status == BUSY) {
      return new RateLimitException(message, refusal);
    }
    if (status == TIMED_OUT) {
      return new TimeoutException(message, refusal);
    }
    return status >= LEAST_OF_SERVER
        ? new InternalServerException(message, refusal)
        : new InvalidRequestException(message, refusal);
  }
}
