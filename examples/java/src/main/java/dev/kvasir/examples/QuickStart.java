package dev.kvasir.examples;

import dev.kvasir.ChatModel;

/** Answers one message with a two-bit KV cache. */
public class QuickStart {
  public static void main(String[] arguments) {
    try (ChatModel chat = ChatModel.builder().cache("kivi:2").maxTokens(60).build()) {
      System.out.println(chat.chat("Tell me about the sea."));
    }
  }
}
