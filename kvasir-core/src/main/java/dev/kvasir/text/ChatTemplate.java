package dev.kvasir.text;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Renders a conversation as a prompt in the format that a model was trained on. */
@FunctionalInterface
public interface ChatTemplate {
  /**
   * The variables of a template: strings, booleans, numbers, {@code null}, lists and maps of these.
   *
   * @param messages messages of the OpenAI API, with role, content, tool_calls and so on
   * @param tools tools of the OpenAI API; may be empty
   * @param addGenerationPrompt whether the prompt ends with the header of the assistant's turn
   * @param extra further variables, which replace none of the others
   */
  record Input(
      List<Map<String, Object>> messages,
      List<Map<String, Object>> tools,
      boolean addGenerationPrompt,
      Map<String, Object> extra) {
    public Input(
        List<Map<String, Object>> messages,
        List<Map<String, Object>> tools,
        boolean addGenerationPrompt) {
      this(messages, tools, addGenerationPrompt, Map.of());
    }
  }

  String render(Input input);

  /**
   * @param addGenerationPrompt whether the prompt ends with the header of the assistant's turn
   */
  default String render(List<Message> messages, boolean addGenerationPrompt) {
    return render(
        new Input(
            messages.stream().map(Message::variables).toList(), List.of(), addGenerationPrompt));
  }

  /** Returns the template of a model. */
  static ChatTemplate of(String source, String name, Tokenizer tokenizer) {
    PromptTemplate template = PromptTemplate.parse(source, name);
    return input -> {
      Map<String, Object> variables = new HashMap<>(input.extra());
      variables.put("messages", input.messages());
      variables.put("add_generation_prompt", input.addGenerationPrompt());
      // Templates use these without checking that they are defined.
      variables.put("tools", input.tools().isEmpty() ? null : input.tools());
      variables.put("documents", null);
      tokenizer.bosText().ifPresent(text -> variables.put("bos_token", text));
      tokenizer.eosText().ifPresent(text -> variables.put("eos_token", text));
      return template.render(variables);
    };
  }

  /** Returns a template of role names and colons, for models without a valid template. */
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
