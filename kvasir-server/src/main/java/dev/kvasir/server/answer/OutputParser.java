package dev.kvasir.server.answer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import dev.kvasir.sampling.TokenLogprob;
import dev.kvasir.server.answer.CompletionRequest.ParserOptions;
import dev.kvasir.text.StopSequences;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Takes a choice's text apart as it comes: it ends before a stop phrase, thinking is told from
 * answering, and calls of tools from both.
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
    // Line breaks around calls are no text of their own.
    if (!text.isEmpty() && !(toolCallCount > 0 && text.isBlank())) {
      emitText(text);
    }
  }

  private void emitText(String text) {
    out.accept(new CompletionEvent.Text(choice, text, List.copyOf(pendingLogprobs)));
    pendingLogprobs.clear();
  }

  /** A token whose text comes next, or in a while. */
  void logprob(TokenLogprob token) {
    pendingLogprobs.add(token);
  }

  /** A call that cannot be read is text, as the model wrote it. */
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
    out.accept(
        new CompletionEvent.ToolCall(choice, toolCallCount++, name.getAsString(), text(arguments)));
  }

  /** Null where a text is no JSON object. */
  private static JsonObject objectOf(String written) {
    try {
      return JsonParser.parseString(written) instanceof JsonObject object ? object : null;
    } catch (JsonParseException e) {
      return null;
    }
  }

  /** Arguments travel as text; some models write them as text already. */
  private static String text(JsonElement arguments) {
    if (arguments == null || arguments.isJsonNull()) {
      return "{}";
    }
    return arguments.isJsonPrimitive() ? arguments.getAsString() : arguments.toString();
  }

  /** Whether a stop phrase has come. */
  boolean hasStopped() {
    return stops.found();
  }

  boolean hasToolCalls() {
    return toolCallCount > 0;
  }

  /** Tells what was held back, when no more text comes. */
  void finish() {
    splitReasoning(stops.finish());
    reasoning.ifPresent(TagSplitter::finish);
    toolCalls.ifPresent(TagSplitter::finish);
    if (!toolCall.isEmpty()) {
      emitToolCall();
    }
  }
}
