package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Builds responses of {@code /v1/chat/completions}. */
public final class ChatResponseBuilder extends ResponseBuilder {
  private final Set<Integer> started = new HashSet<>();
  private final Map<Integer, Message> messages = new TreeMap<>();

  public ChatResponseBuilder(String model, Tokenizer tokenizer, Fields request) {
    super("chatcmpl-", "chat.completion", "chat.completion.chunk", model, tokenizer, request);
  }

  /** A choice of a response that is not streamed. */
  private static final class Message {
    private final StringBuilder content = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final JsonArray calls = new JsonArray();
    private final List<TokenLogprob> logprobs = new ArrayList<>();
    private String finishReason;

    JsonObject json() {
      JsonObject message = new JsonObject();
      message.addProperty("role", "assistant");
      message.addProperty(
          "content", content.isEmpty() && !calls.isEmpty() ? null : content.toString());
      if (!reasoning.isEmpty()) {
        message.addProperty("reasoning_content", reasoning.toString());
      }
      if (!calls.isEmpty()) {
        message.add("tool_calls", calls);
      }
      return message;
    }
  }

  @Override
  List<JsonObject> choiceChunks(CompletionEvent event) {
    JsonObject delta = delta(event);
    if (delta == null) {
      return List.of();
    }
    List<JsonObject> chunks = new ArrayList<>();
    if (started.add(event.choice())) {
      JsonObject role = new JsonObject();
      role.addProperty("role", "assistant");
      role.addProperty("content", "");
      chunks.add(choiceChunk(event.choice(), role, null, List.of()));
    }
    String finishReason = event instanceof CompletionEvent.Done done ? finishReason(done) : null;
    List<TokenLogprob> logprobs =
        event instanceof CompletionEvent.Text text ? text.logprobs() : List.of();
    chunks.add(choiceChunk(event.choice(), delta, finishReason, logprobs));
    return chunks;
  }

  /** Returns null for an event that has no chunk. */
  private static JsonObject delta(CompletionEvent event) {
    JsonObject delta = new JsonObject();
    switch (event) {
      case CompletionEvent.Text text -> delta.addProperty("content", text.text());
      case CompletionEvent.Reasoning text -> delta.addProperty("reasoning_content", text.text());
      case CompletionEvent.ToolCallStart call ->
          delta.add("tool_calls", calls(call.index(), call(call.id(), call.name(), "")));
      case CompletionEvent.ToolCallArguments piece ->
          delta.add("tool_calls", calls(piece.index(), arguments(piece.json())));
      case CompletionEvent.ToolCall call -> {
        return null; // its pieces were sent
      }
      case CompletionEvent.Done done -> {}
      case CompletionEvent.PrefillProgress progress -> {
        return null;
      }
      case CompletionEvent.Failed failed -> {
        return null;
      }
    }
    return delta;
  }

  private static JsonArray calls(int index, JsonObject call) {
    call.addProperty("index", index);
    JsonArray calls = new JsonArray();
    calls.add(call);
    return calls;
  }

  private static JsonObject arguments(String piece) {
    JsonObject function = new JsonObject();
    function.addProperty("arguments", piece);
    JsonObject json = new JsonObject();
    json.add("function", function);
    return json;
  }

  private static JsonObject call(String id, String name, String arguments) {
    JsonObject function = new JsonObject();
    function.addProperty("name", name);
    function.addProperty("arguments", arguments);
    JsonObject json = new JsonObject();
    json.addProperty("id", id);
    json.addProperty("type", "function");
    json.add("function", function);
    return json;
  }

  private JsonObject choiceChunk(
      int index, JsonObject delta, String finishReason, List<TokenLogprob> logprobs) {
    JsonObject choice = choice(index, finishReason, logprobs);
    choice.add("delta", delta);
    return choice;
  }

  @Override
  void collectChoice(CompletionEvent event) {
    Message message = messages.computeIfAbsent(event.choice(), any -> new Message());
    switch (event) {
      case CompletionEvent.Text text -> {
        message.content.append(text.text());
        message.logprobs.addAll(text.logprobs());
      }
      case CompletionEvent.Reasoning text -> message.reasoning.append(text.text());
      case CompletionEvent.ToolCall call ->
          message.calls.add(call(call.id(), call.name(), call.arguments()));
      case CompletionEvent.ToolCallStart start -> {}
      case CompletionEvent.ToolCallArguments piece -> {}
      case CompletionEvent.Done done -> message.finishReason = finishReason(done);
      case CompletionEvent.PrefillProgress progress -> {}
      case CompletionEvent.Failed failed -> {}
    }
  }

  @Override
  JsonArray choices() {
    JsonArray choices = new JsonArray();
    messages.forEach(
        (index, message) -> {
          JsonObject choice = choice(index, message.finishReason, message.logprobs);
          choice.add("message", message.json());
          choices.add(choice);
        });
    return choices;
  }

  @Override
  JsonObject logprobs(List<TokenLogprob> logprobs, Tokenizer tokenizer) {
    return Logprobs.ofChat(logprobs, tokenizer);
  }
}
