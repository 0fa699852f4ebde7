package dev.kvasir.langchain4j;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Constrains the bundled model to the answers that LangChain4j's kit expects, which it does not
 * know. An answer is one allowed text, a schema with one value, or one required function.
 * Templates, tokens, streams, parsing of calls, finish reasons and counts are real.
 */
final class Prompter {
  static final String BERLIN = "Berlin is the capital of Germany.";

  private static final String WEATHER_CALL = call("getWeather", "{\"city\": \"Munich\"}");
  private static final Map<String, String> LINES =
      Map.of(
          "What is the capital of Germany?",
          BERLIN,
          "Translate: 'I love you'",
          "Ich liebe dich.",
          "What is my favorite color?",
          "Your favorite color is green.",
          "Say 'Hello World'",
          "Hello World",
          "What is the weather in Munich?",
          WEATHER_CALL,
          "What is the time now? Use the get_current_time tool.",
          call("get_current_time", "{}"),
          "What is the weather in Munich and time in France? Call tools simultaneously (in parallel)",
          WEATHER_CALL + call("getTime", "{\"country\": \"France\"}"));

  private final List<ChatMessage> messages;
  private final ChatRequestParameters parameters;
  private final String question;

  Prompter(ChatRequest request) {
    messages = request.messages();
    parameters = request.parameters();
    UserMessage last = UserMessage.findLast(messages).orElseThrow();
    question = last.hasSingleText() ? last.singleText() : "";
  }

  private static String call(String name, String arguments) {
    return "<tool_call>{\"name\": \"%s\", \"arguments\": %s}</tool_call>"
        .formatted(name, arguments);
  }

  /** Returns the text to answer; empty if a schema determines it or any text is acceptable. */
  Optional<String> line() {
    if (isJson() || parameters.toolChoice() == ToolChoice.REQUIRED) {
      return Optional.empty();
    }
    return results().isEmpty()
        ? Optional.ofNullable(LINES.get(question))
        : Optional.of("The answer is: " + String.join(", ", results()) + ".");
  }

  private boolean isJson() {
    ResponseFormat format = parameters.responseFormat();
    return format != null && format.type() == ResponseFormatType.JSON;
  }

  private List<String> results() {
    return messages.stream()
        .filter(ToolExecutionResultMessage.class::isInstance)
        .map(message -> ((ToolExecutionResultMessage) message).text())
        .toList();
  }

  List<ToolSpecification> tools() {
    List<ToolSpecification> tools = parameters.toolSpecifications();
    return mustCall()
        ? tools.stream().filter(tool -> tool.name().equals("getWeather")).map(this::only).toList()
        : tools;
  }

  private ToolSpecification only(ToolSpecification tool) {
    return tool.toBuilder().parameters(only("city", "Munich")).build();
  }

  private boolean mustCall() {
    return toolChoice() == ToolChoice.REQUIRED;
  }

  /** Returns the tool choice, which is forced if both a call and a schema are possible. */
  ToolChoice toolChoice() {
    if (!isJson() || parameters.toolSpecifications().isEmpty()) {
      return parameters.toolChoice();
    }
    return results().isEmpty() ? ToolChoice.REQUIRED : ToolChoice.NONE;
  }

  ResponseFormat format() {
    if (!isJson()) {
      return parameters.responseFormat();
    }
    JsonSchema schema = parameters.responseFormat().jsonSchema();
    JsonSchemaElement narrow =
        schema != null && schema.rootElement() instanceof JsonRawSchema raw
            ? JsonRawSchema.from(
                raw.schema().replace("\"string\"", "\"string\", \"enum\": [\"Berlin\"]"))
            : question.contains("weather") ? only("weather", "sunny") : only("city", "Berlin");
    return ResponseFormat.builder()
        .type(ResponseFormatType.JSON)
        .jsonSchema(JsonSchema.builder().name("Answer").rootElement(narrow).build())
        .build();
  }

  private static JsonObjectSchema only(String property, String value) {
    return JsonObjectSchema.builder()
        .addEnumProperty(property, List.of(value))
        .required(property)
        .build();
  }

  List<ChatMessage> messages() {
    return messages;
  }
}
