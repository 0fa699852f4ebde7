package dev.kvasir.mini;

import dev.kvasir.ChatEvent;
import dev.kvasir.ChatMessage;
import dev.kvasir.ChatModel;
import dev.kvasir.ChatRequest;
import dev.kvasir.ChatResponse;
import dev.kvasir.OutputFormat;
import dev.kvasir.Tool;
import dev.kvasir.ToolCall;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** The example of docs/frameworks.md. */
final class ChatExample {
  private ChatExample() {}

  static void run(ChatModel model, PrintStream out) {
    // A whole answer, and the same as a stream.
    out.println(model.chat("Tell me of the sea."));
    ChatRequest request = ChatRequest.builder().user("And the shore?").maxTokens(50).build();
    for (ChatEvent event : model.stream(request)) {
      if (event instanceof ChatEvent.Text piece) {
        out.print(piece.text());
      }
    }

    // An answer that a schema accepts.
    String schema = "{\"type\": \"object\", \"properties\": {\"depth\": {\"type\": \"integer\"}}}";
    out.println(
        model
            .chat(
                ChatRequest.builder()
                    .user("How deep is it?")
                    .format(OutputFormat.jsonSchema(schema))
                    .maxTokens(100)
                    .build())
            .text());

    // A tool that the model calls, and the answer to its result.
    Tool tide = new Tool("tide", "Tells how high the water is.");
    List<ChatMessage> messages = new ArrayList<>(List.of(ChatMessage.user("Is it high tide?")));
    ChatResponse calls =
        model.chat(
            ChatRequest.builder()
                .messages(messages)
                .tools(List.of(tide))
                .toolChoice(ChatRequest.ToolChoice.REQUIRED)
                .build());
    messages.add(calls.message());
    for (ToolCall call : calls.toolCalls()) {
      messages.add(ChatMessage.toolResult(call, "low"));
    }
    out.println(model.chat(ChatRequest.builder().messages(messages).maxTokens(50).build()).text());
  }
}
