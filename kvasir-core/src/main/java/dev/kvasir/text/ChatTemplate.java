package dev.kvasir.text;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Turns a conversation into the prompt that a model was trained on. */
@FunctionalInterface
public interface ChatTemplate {
  /**
   * What a template is given: strings, booleans, numbers, {@code null}, lists and maps of these.
   *
   * @param messages as the OpenAI interface has them: role, content, tool_calls and so on
   * @param tools that the model may call, as that interface describes them; empty for none
   * @param addGenerationPrompt ends the prompt where the assistant's answer begins
   */
  record Input(
      List<Map<String, Object>> messages,
      List<Map<String, Object>> tools,
      boolean addGenerationPrompt) {}

  String render(Input input);

  /**
   * @param addGenerationPrompt ends the prompt where the assistant's answer begins
   */
  default String render(List<Message> messages, boolean addGenerationPrompt) {
    return render(
        new Input(
            messages.stream().map(Message::variables).toList(), List.of(), addGenerationPrompt));
  }

  /** The template that a model's files carry. */
  static ChatTemplate of(String source, String name, Tokenizer tokenizer) {
    PromptTemplate template = PromptTemplate.parse(source, name);
    return input -> {
      Map<String, Object> variables = new HashMap<>();
      variables.put("messages", input.messages());
      variables.put("add_generation_prompt", input.addGenerationPrompt());
      // Templates ask for these without checking that they exist.
      variables.put("tools", input.tools().isEmpty() ? null : input.tools());
      variables.put("documents", null);
      tokenizer.bosText().ifPresent(text -> variables.put("bos_token", text));
      tokenizer.eosText().ifPresent(text -> variables.put("eos_token", text));
      return template.render(variables);
    };
  }

  /** Names and colons, for models without a template or with one that cannot be read. */
  static ChatTemplate plain() {
    return input -> {
      StringBuilder prompt = new StringBuilder();
      for (Map<String, Object> message : input.messages()) {
        prompt.append(capitalized(String.valueOf(message.get("role")))).append(": ");
        prompt.append(message.get("content")).append('\n');
      }
      return prompt.append(input.addGenerationPrompt() ? "Assistant:" : "").toString();
    };
  }

  private static String capitalized(String role) {
    return role.isEmpty() ? role : Character.toUpperCase(role.charAt(0)) + role.substring(1);
  }
}
