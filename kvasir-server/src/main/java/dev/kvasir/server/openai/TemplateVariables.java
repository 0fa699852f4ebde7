package dev.kvasir.server.openai;

import dev.kvasir.format.JsonValues;
import dev.kvasir.server.api.Fields;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Reads the variables that a request sets in the chat template: {@code chat_template_kwargs}, and
 * the fields {@code enable_thinking} and {@code reasoning_effort}.
 */
final class TemplateVariables {
  private static final String ARGUMENTS = "chat_template_kwargs";
  private static final String THINKING = "enable_thinking";
  private static final String EFFORT = "reasoning_effort";

  /** Efforts without reasoning. */
  private static final Set<String> NO_EFFORT = Set.of("none");

  private TemplateVariables() {}

  static Map<String, Object> read(Fields request) {
    Map<String, Object> variables = new LinkedHashMap<>();
    request
        .string(EFFORT)
        .ifPresent(
            effort -> {
              variables.put(EFFORT, effort);
              if (NO_EFFORT.contains(effort)) {
                setThinking(variables, false);
              }
            });
    if (request.element(THINKING).isPresent()) {
      setThinking(variables, request.isTrue(THINKING));
    }
    request
        .object(ARGUMENTS)
        .ifPresent(
            given ->
                given
                    .json()
                    .asMap()
                    .forEach((name, value) -> variables.put(name, JsonValues.of(value))));
    return variables;
  }

  /** Sets the switch of most templates, and that of DeepSeek's and Granite's. */
  private static void setThinking(Map<String, Object> variables, boolean value) {
    variables.put(THINKING, value);
    variables.put("thinking", value);
  }
}
