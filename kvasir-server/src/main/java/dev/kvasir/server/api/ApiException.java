package dev.kvasir.server.api;

import com.google.gson.JsonObject;
import dev.kvasir.KvasirException;

/** An error in the format of the OpenAI API. */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Messages name what was sent, which may be a megabyte. */
  private static final int MAX_MESSAGE = 600;

  private static final int MAX_FIELD = 100;

  private final int status;
  private final String type;
  private final String field;
  private final String code;

  private ApiException(int status, String type, String field, String code, String message) {
    super(shortened(message, MAX_MESSAGE), null, false, false);
    this.status = status;
    this.type = type;
    this.field = field == null ? null : shortened(field, MAX_FIELD);
    this.code = code;
  }

  private static String shortened(String text, int length) {
    return text.length() > length ? text.substring(0, length) + "…" : text;
  }

  /**
   * Converts a failure of a completion. The queue refuses a request as invalid only for its number
   * of choices.
   */
  public static ApiException of(KvasirException failure) {
    String message = failure.getMessage();
    return switch (failure.reason()) {
      case INVALID_INPUT -> invalidField("n", message);
      case TOO_LONG -> tooLong(message);
      case BUSY -> busy(message);
      case TIMED_OUT -> new ApiException(504, "server_error", null, "timeout", message);
      case CLOSED -> stopping();
      case FAILED -> internal();
    };
  }

  /** Converts a failure that is due to the value of a field. */
  public static ApiException ofField(String field, KvasirException failure) {
    return switch (failure.reason()) {
      case INVALID_INPUT -> invalidField(field, failure.getMessage());
      case TOO_LONG -> tooLong(field, failure.getMessage());
      default -> of(failure);
    };
  }

  /** The request is invalid for every client. */
  public static ApiException invalid(String message) {
    return new ApiException(400, "invalid_request_error", null, null, message);
  }

  public static ApiException invalidField(String field, String message) {
    return new ApiException(400, "invalid_request_error", field, null, message);
  }

  /** The prompt exceeds the context or the memory budget. */
  public static ApiException tooLong(String message) {
    return tooLong("messages", message);
  }

  /** A field's text exceeds the context or the memory budget. */
  public static ApiException tooLong(String field, String message) {
    return new ApiException(
        400, "invalid_request_error", field, "context_length_exceeded", message);
  }

  public static ApiException tooLarge(String message) {
    return new ApiException(413, "invalid_request_error", null, "request_too_large", message);
  }

  public static ApiException tooSlow(String message) {
    return new ApiException(408, "invalid_request_error", null, "request_timeout", message);
  }

  public static ApiException unauthorized(String message) {
    return new ApiException(401, "invalid_request_error", null, "invalid_api_key", message);
  }

  public static ApiException forbidden(String message) {
    return new ApiException(403, "invalid_request_error", null, "forbidden", message);
  }

  public static ApiException notFound(String message) {
    return new ApiException(404, "invalid_request_error", null, "not_found", message);
  }

  /** A field names something that does not exist. */
  public static ApiException notFoundField(String field, String message) {
    return new ApiException(404, "invalid_request_error", field, "not_found", message);
  }

  public static ApiException unknownModel(String message) {
    return new ApiException(404, "invalid_request_error", "model", "model_not_found", message);
  }

  /** The request contradicts the present state. */
  public static ApiException conflict(String message) {
    return new ApiException(409, "invalid_request_error", null, "conflict", message);
  }

  public static ApiException methodNotAllowed(String message) {
    return new ApiException(405, "invalid_request_error", null, "method_not_allowed", message);
  }

  /** The server is overloaded; a retry may succeed. */
  public static ApiException busy(String message) {
    return new ApiException(429, "rate_limit_error", null, "server_busy", message);
  }

  public static ApiException stopping() {
    return new ApiException(
        503, "server_error", null, "shutting_down", "the server is shutting down");
  }

  /** An internal error. The log has the details, since a client cannot fix it. */
  public static ApiException internal() {
    return new ApiException(
        500, "server_error", null, "internal_error", "the server failed; its log says why");
  }

  public int status() {
    return status;
  }

  public JsonObject json() {
    JsonObject error = new JsonObject();
    error.addProperty("message", getMessage());
    error.addProperty("type", type);
    error.addProperty("param", field);
    error.addProperty("code", code);
    JsonObject body = new JsonObject();
    body.add("error", error);
    return body;
  }
}
