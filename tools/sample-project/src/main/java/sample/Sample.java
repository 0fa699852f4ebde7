package sample;

import dev.kvasir.ChatModel;
import dev.kvasir.ChatRequest;

/** Asks the bundled model one question; the same question has the same answer. */
public final class Sample {
  private Sample() {}

  public static void main(String[] arguments) {
    String question = arguments.length == 0 ? "Tell me of the sea." : String.join(" ", arguments);
    ChatRequest request = ChatRequest.builder().user(question).temperature(0).maxTokens(40).build();
    try (ChatModel chat = ChatModel.builder().cache("kivi:2").build()) {
      System.out.println(chat.chat(request).text().strip());
    }
  }
}
