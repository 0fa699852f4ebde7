package dev.kvasir.langchain4j;

import dev.kvasir.server.api.ApiException;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.LangChain4jException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;

/** Maps API errors to the LangChain4j exceptions that tell callers whether to retry. */
final class ExceptionMapper {
  private static final int BUSY = 429;
  private static final int TIMED_OUT = 504;
  private static final int MIN_SERVER_ERROR = 500;

  private ExceptionMapper() {}

  static LangChain4jException of(ApiException failure) {
    String message = failure.getMessage();
    int status = failure.status();
    if (status == BUSY) {
      return new RateLimitException(message, failure);
    }
    if (status == TIMED_OUT) {
      return new TimeoutException(message, failure);
    }
    return status >= MIN_SERVER_ERROR
        ? new InternalServerException(message, failure)
        : new InvalidRequestException(message, failure);
  }
}
