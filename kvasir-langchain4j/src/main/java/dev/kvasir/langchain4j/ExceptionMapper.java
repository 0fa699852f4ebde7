package dev.kvasir.langchain4j;

import dev.kvasir.KvasirException;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.LangChain4jException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;

/** Maps failures to the LangChain4j exceptions that tell callers whether to retry. */
final class ExceptionMapper {
  private ExceptionMapper() {}

  static LangChain4jException of(KvasirException failure) {
    String message = failure.getMessage();
    return switch (failure.reason()) {
      case INVALID_INPUT, TOO_LONG -> new InvalidRequestException(message, failure);
      case BUSY -> new RateLimitException(message, failure);
      case TIMED_OUT -> new TimeoutException(message, failure);
      case CLOSED, FAILED -> new InternalServerException(message, failure);
    };
  }

  /** Maps a parameter that is out of its range. */
  static LangChain4jException of(IllegalArgumentException failure) {
    return new InvalidRequestException(failure.getMessage(), failure);
  }
}
