package dev.kvasir.chat;

import java.util.UUID;

/** Creates unique ids of completions and tool calls. */
public final class Ids {
  private Ids() {}

  public static String newId(String prefix) {
    return prefix + UUID.randomUUID().toString().replace("-", "");
  }
}
