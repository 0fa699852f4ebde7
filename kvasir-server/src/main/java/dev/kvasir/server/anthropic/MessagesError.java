package dev.kvasir.server.anthropic;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;

/** Writes errors in the format of the Messages API. */
public final class MessagesError {
  private MessagesError() {}

  public static JsonObject json(ApiException why) {
    JsonObject error = new JsonObject();
    error.addProperty("type", type(why.status()));
    error.addProperty("message", why.getMessage());
    JsonObject body = new JsonObject();
    body.addProperty("type", "error");
    body.add("error", error);
    return body;
  }

  private static String type(int status) {
    return switch (status) {
      case 400, 405 -> "invalid_request_error";
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503 -> "overloaded_error";
      case 504 -> "timeout_error";
      default -> "api_error";
    };
  }
}
