package dev.kvasir.text;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Turns a conversation into the prompt that a model was trained on. */
@FunctionalInterface
public interface ChatTemplate {
  /**
   * @param addGenerationPrompt ends the prompt where the assistant's answer begins
   */
  String render(List<Message> messages, boolean addGenerationPrompt);

  /** The template that a model's files carry. */
  static ChatTemplate of(String source, String name, Tokenizer tokenizer) {
    PromptTemplate template = PromptTemplate.parse(source, name);
    return (messages, addGenerationPrompt) -> {
      Map<String, Object> variables = new HashMap<>();
      variables.put("messages", messages.stream().map(Message::variables).toList());
      variables.put("add_generation_prompt", addGenerationPrompt);
      variables.put("tools", null); // templates ask for these without checking that they exist
      variables.put("documents", null);
      tokenizer.bosText().ifPresent(text -> variables.put("bos_token", text));
      tokenizer.eosText().ifPresent(text -> variables.put("eos_token", text));
      return template.render(variables);
    };
  }

  /** Names and colons, for models without a template or with one that cannot be read. */
  static ChatTemplate plain() {
    return (messages, addGenerationPrompt) -> {
      StringBuilder prompt = new StringBuilder();
      for (Message message : messages) {
        prompt.append(capitalized(message.role())).append(": ").append(message.content());
        prompt.append('\n');
      }
      return prompt.append(addGenerationPrompt ? "Assistant:" : "").toString();
    };
  }

  private static String capitalized(String role) {
    return role.isEmpty() ? role : Character.toUpperCase(role.charAt(0)) + role.substring(1);
  }
}
