package dev.kvasir.text;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One turn of a conversation.
 *
 * @param role usually system, user or assistant
 */
public record Message(String role, String content) {
  public static Message system(String content) {
    return new Message("system", content);
  }

  public static Message user(String content) {
    return new Message("user", content);
  }

  public static Message assistant(String content) {
    return new Message("assistant", content);
  }

  Map<String, Object> variables() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("role", role);
    map.put("content", content);
    return map;
  }
}
