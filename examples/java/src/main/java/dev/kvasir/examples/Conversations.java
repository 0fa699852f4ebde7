package dev.kvasir.examples;

import dev.kvasir.ChatEvent;
import dev.kvasir.ChatMessage;
import dev.kvasir.ChatModel;
import dev.kvasir.ChatRequest;
import dev.kvasir.ChatResponse;
import dev.kvasir.OutputFormat;
import dev.kvasir.Tool;
import dev.kvasir.ToolCall;
import java.util.ArrayList;
import java.util.List;

/** Streams an answer, constrains one to a schema, and lets the model call a tool. */
public class Conversations {
  public static void main(String[] arguments) {
    try (ChatModel chat = ChatModel.builder().cache("kivi:2", "fp16").build()) {
      // A stream of events, which any thread may cancel.
      ChatRequest request = ChatRequest.builder().user("And the shore?").maxTokens(50).build();
      for (ChatEvent event : chat.stream(request)) {
        if (event instanceof ChatEvent.Text piece) {
          System.out.print(piece.text());
        }
      }

      // An answer that a schema accepts, computed with the other cache.
      String schema =
          "{\"type\": \"object\", \"properties\": {\"depth\": {\"type\": \"integer\"}}}";
      ChatRequest constrained =
          ChatRequest.builder()
              .user("How deep is it?")
              .format(OutputFormat.jsonSchema(schema))
              .cache("fp16")
              .maxTokens(100)
              .build();
      System.out.println(chat.chat(constrained).text());

      // A tool that the model calls, and the answer to its result.
      Tool tide = new Tool("tide", "Tells how high the water is.");
      List<ChatMessage> messages = new ArrayList<>(List.of(ChatMessage.user("Is it high tide?")));
      ChatResponse calls =
          chat.chat(
              ChatRequest.builder()
                  .messages(messages)
                  .tools(List.of(tide))
                  .toolChoice(ChatRequest.ToolChoice.REQUIRED)
                  .build());
      messages.add(calls.message());
      for (ToolCall call : calls.toolCalls()) {
        messages.add(ChatMessage.toolResult(call, "low"));
      }
      ChatRequest last = ChatRequest.builder().messages(messages).maxTokens(50).build();
      System.out.println(chat.chat(last).text());
    }
  }
}
