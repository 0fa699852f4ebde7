package dev.kvasir.chat;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import dev.kvasir.ToolFormat;
import dev.kvasir.chat.syntax.CallableFunctions;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.chat.syntax.WrittenCalls;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.ChatTemplate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The form in which a template reads the calls of earlier messages. Templates differ, and some drop
 * calls silently: a conversation is therefore rendered in each form until its call can be parsed
 * back.
 *
 * @param format how the model writes tool calls
 * @param form what the template reads
 */
record CallVariables(ToolFormat format, Form form) {
  private static final Gson GSON =
      new GsonBuilder().disableHtmlEscaping().serializeNulls().create();
  private static final String NAME = "kvasir_probe";
  private static final String VALUE = "kvasir_value";

  /** How calls and content are represented. */
  enum Form {
    /** Arguments are an object, and content beside calls is text. */
    OBJECT,
    /** Content beside calls is null. */
    OBJECT_WITHOUT_CONTENT,
    /** Arguments are JSON text. */
    TEXT,
    /** Arguments are JSON text, and content beside calls is null. */
    TEXT_WITHOUT_CONTENT,
    /** The template reads no calls, so they are part of the content. */
    CONTENT;

    private boolean isText() {
      return this == TEXT || this == TEXT_WITHOUT_CONTENT;
    }

    private boolean isWithoutContent() {
      return this == OBJECT_WITHOUT_CONTENT || this == TEXT_WITHOUT_CONTENT;
    }
  }

  static CallVariables of(ChatTemplate template, MessageSyntax syntax) {
    return Stream.of(Form.values())
        .map(form -> new CallVariables(syntax.format(), form))
        .filter(variables -> variables.isReadBy(template, syntax))
        .findFirst()
        .orElse(new CallVariables(syntax.format(), Form.OBJECT));
  }

  private boolean isReadBy(ChatTemplate template, MessageSyntax syntax) {
    try {
      String text = template.render(new ChatTemplate.Input(apply(probe()), List.of(), false));
      CallableFunctions functions = new CallableFunctions(Map.of(NAME, "{}"), true);
      return WrittenCalls.in(text, syntax, functions).stream()
          .anyMatch(arguments -> arguments.contains(VALUE));
    } catch (InvalidInputException e) {
      return false;
    }
  }

  private static List<Map<String, Object>> probe() {
    Map<String, Object> call =
        Map.of(
            "id",
            "kvasir001", // nine characters, as Mistral's templates require
            "type",
            "function",
            "function",
            Map.of("name", NAME, "arguments", Map.of("key", VALUE)));
    return List.of(
        Map.of("role", "user", "content", "Hello"),
        Map.of("role", "assistant", "content", "", "tool_calls", List.of(call)));
  }

  /** Returns messages in this form. */
  List<Map<String, Object>> apply(List<Map<String, Object>> messages) {
    return messages.stream()
        .map(
            message ->
                message.get("tool_calls") instanceof List<?> calls ? with(message, calls) : message)
        .toList();
  }

  private Map<String, Object> with(Map<String, Object> message, List<?> calls) {
    Map<String, Object> changed = new LinkedHashMap<>(message);
    boolean isEmpty = "".equals(message.get("content"));
    if (form == Form.CONTENT) {
      changed.remove("tool_calls");
      changed.put("content", message.get("content") + written(calls));
      return changed;
    }
    if (form.isWithoutContent() && isEmpty) {
      changed.put("content", null);
    }
    if (format == ToolFormat.HARMONY && isEmpty && message.containsKey("reasoning_content")) {
      changed.put("thinking", message.get("reasoning_content"));
    }
    if (form.isText()) {
      changed.put("tool_calls", calls.stream().map(CallVariables::withText).toList());
    }
    return changed;
  }

  private static Object withText(Object call) {
    Optional<Map<?, ?>> function = function(call);
    if (function.isEmpty() || function.get().get("arguments") instanceof String) {
      return call;
    }
    Map<Object, Object> changedFunction = new LinkedHashMap<>(function.get());
    changedFunction.put("arguments", GSON.toJson(function.get().get("arguments")));
    Map<Object, Object> changed = new LinkedHashMap<>((Map<?, ?>) call);
    changed.put("function", changedFunction);
    return changed;
  }

  private static Optional<Map<?, ?>> function(Object call) {
    return call instanceof Map<?, ?> map && map.get("function") instanceof Map<?, ?> function
        ? Optional.of(function)
        : Optional.empty();
  }

  private String written(List<?> calls) {
    StringBuilder text = new StringBuilder();
    for (Object call : calls) {
      function(call)
          .ifPresent(
              function ->
                  text.append(
                      WrittenCalls.write(
                          format,
                          String.valueOf(function.get("name")),
                          GSON.toJsonTree(function.get("arguments")))));
    }
    return text.toString();
  }
}
