package dev.kvasir.server.api;

import com.google.gson.JsonObject;

/**
 * A server-sent event.
 *
 * @param name the value of its {@code event} line; null for none
 * @param data one line of text
 */
public record StreamEvent(String name, String data) {
  /** The last event of a stream of the OpenAI API. */
  public static final StreamEvent DONE = new StreamEvent(null, "[DONE]");

  public static StreamEvent of(JsonObject data) {
    return new StreamEvent(null, data.toString());
  }

  public static StreamEvent of(String name, JsonObject data) {
    return new StreamEvent(name, data.toString());
  }
}
