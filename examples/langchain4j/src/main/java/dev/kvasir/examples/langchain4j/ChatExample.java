package dev.kvasir.examples.langchain4j;

import dev.kvasir.langchain4j.KvasirChatModel;
import dev.langchain4j.model.chat.request.ChatRequestParameters;

/** Answers one message with LangChain4j. */
public class ChatExample {
  public static void main(String[] arguments) {
    var few = ChatRequestParameters.builder().maxOutputTokens(100).build();
    var builder = KvasirChatModel.builder().kv("kivi:2").defaultRequestParameters(few);
    try (KvasirChatModel model = builder.build()) {
      System.out.println(model.chat("Tell me about the sea."));
    }
  }
}
