package sample;

import dev.kvasir.ChatModel;

/** Asks the bundled model one question. */
public final class Sample {
  private Sample() {}

  public static void main(String[] arguments) {
    String question = arguments.length == 0 ? "Tell me of the sea." : String.join(" ", arguments);
    try (ChatModel chat = ChatModel.builder().cache("kivi:2").maxTokens(40).build()) {
      System.out.println(chat.chat(question));
    }
  }
}
