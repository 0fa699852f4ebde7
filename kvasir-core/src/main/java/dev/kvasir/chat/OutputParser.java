package dev.kvasir.chat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionRequest.ParserOptions;
import dev.kvasir.text.StopSequences;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Parses the text of a choice as it streams: cuts it before a stop sequence, and splits off
 * reasoning and tool calls.
 */
final class OutputParser {
  private final int choice;
  private final Consumer<CompletionEvent> out;
  private final StopSequences stops;
  private final Optional<TagSplitter> reasoning;
  private final Optional<TagSplitter> toolCalls;
  private final StringBuilder toolCall = new StringBuilder();
  private final List<TokenLogprob> pendingLogprobs = new ArrayList<>();
  private int toolCallCount;

  OutputParser(
      int choice, List<String> stops, ParserOptions parserOptions, Consumer<CompletionEvent> out) {
    this.choice = choice;
    this.out = out;
    this.stops = new StopSequences(stops);
    this.toolCalls = parserOptions.tools().map(this::toolCallSplitter);
    this.reasoning =
        parserOptions.reasoning()
            ? Optional.of(reasoningSplitter(parserOptions.startsInReasoning()))
            : Optional.empty();
  }

  private TagSplitter reasoningSplitter(boolean startsInside) {
    return new TagSplitter(
        "<think>", "</think>", startsInside, this::splitToolCalls, this::emitReasoning, () -> {});
  }

  private TagSplitter toolCallSplitter(ToolSyntax syntax) {
    return new TagSplitter(
        syntax.open(),
        syntax.close(),
        false,
        this::emitContent,
        toolCall::append,
        this::emitToolCall);
  }

  void push(String piece) {
    splitReasoning(stops.push(piece));
  }

  private void splitReasoning(String text) {
    reasoning.ifPresentOrElse(splitter -> splitter.push(text), () -> splitToolCalls(text));
  }

  private void emitReasoning(String text) {
    out.accept(new CompletionEvent.Reasoning(choice, text));
  }

  private void splitToolCalls(String text) {
    toolCalls.ifPresentOrElse(splitter -> splitter.push(text), () -> emitContent(text));
  }

  private void emitContent(String text) {
    // White space around tool calls is not content.
    if (!text.isEmpty() && !(toolCallCount > 0 && text.isBlank())) {
      emitText(text);
    }
  }

  private void emitText(String text) {
    out.accept(new CompletionEvent.Text(choice, text, List.copyOf(pendingLogprobs)));
    pendingLogprobs.clear();
  }

  /** Adds a token whose text follows, possibly later. */
  void logprob(TokenLogprob token) {
    pendingLogprobs.add(token);
  }

  /** Emits a tool call, or its source as text if it cannot be parsed. */
  private void emitToolCall() {
    String written = toolCall.toString();
    toolCall.setLength(0);
    JsonObject object = objectOf(written);
    if (object == null || !(object.get("name") instanceof JsonPrimitive name)) {
      emitText(written);
      return;
    }
    JsonElement arguments =
        object.has("arguments") ? object.get("arguments") : object.get("parameters");
    int index = toolCallCount++;
    String id = Ids.newId("call_");
    out.accept(new CompletionEvent.ToolCallStart(choice, index, id, name.getAsString()));
    out.accept(new CompletionEvent.ToolCallArguments(choice, index, text(arguments)));
    out.accept(
        new CompletionEvent.ToolCall(choice, index, id, name.getAsString(), text(arguments)));
  }

  /** Returns null if the text is not a JSON object. */
  private static JsonObject objectOf(String written) {
    try {
      return JsonParser.parseString(written) instanceof JsonObject object ? object : null;
    } catch (JsonParseException e) {
      return null;
    }
  }

  /** Returns arguments as text; some models write them as a string already. */
  private static String text(JsonElement arguments) {
    if (arguments == null || arguments.isJsonNull()) {
      return "{}";
    }
    return arguments.isJsonPrimitive() ? arguments.getAsString() : arguments.toString();
  }

  /** Returns whether a stop sequence was generated. */
  boolean hasStopped() {
    return stops.found();
  }

  /** Returns the stop sequence that was generated. */
  Optional<String> stopSequence() {
    return stops.match();
  }

  boolean hasToolCalls() {
    return toolCallCount > 0;
  }

  /** Emits the buffered text at the end of the stream. */
  void finish() {
    splitReasoning(stops.finish());
    reasoning.ifPresent(TagSplitter::finish);
    toolCalls.ifPresent(TagSplitter::finish);
    if (!toolCall.isEmpty()) {
      emitToolCall();
    }
  }
}
