package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.sampling.TokenLikelihood;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The shape of {@code /v1/chat/completions}. */
public final class ChatReply extends Reply {
  private final Set<Integer> begun = new HashSet<>();
  private final Map<Integer, Message> messages = new TreeMap<>();

  public ChatReply(String model, Tokenizer tokenizer) {
    super("chatcmpl-", "chat.completion", "chat.completion.chunk", model, tokenizer);
  }

  /** A choice that is gathered to be given whole. */
  private static final class Message {
    private final StringBuilder content = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final JsonArray calls = new JsonArray();
    private final List<TokenLikelihood> likelihoods = new ArrayList<>();
    private String reason;

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
  List<JsonObject> pieces(AnswerEvent event) {
    JsonObject delta = delta(event);
    if (delta == null) {
      return List.of();
    }
    List<JsonObject> pieces = new ArrayList<>();
    if (begun.add(event.choice())) {
      JsonObject role = new JsonObject();
      role.addProperty("role", "assistant");
      role.addProperty("content", "");
      pieces.add(piece(event.choice(), role, null, List.of()));
    }
    String reason = event instanceof AnswerEvent.Done done ? done.reason() : null;
    List<TokenLikelihood> likelihoods =
        event instanceof AnswerEvent.Text text ? text.likelihoods() : List.of();
    pieces.add(piece(event.choice(), delta, reason, likelihoods));
    return pieces;
  }

  /** Null where a stream says nothing of an event. */
  private static JsonObject delta(AnswerEvent event) {
    JsonObject delta = new JsonObject();
    switch (event) {
      case AnswerEvent.Text text -> delta.addProperty("content", text.text());
      case AnswerEvent.Reasoning text -> delta.addProperty("reasoning_content", text.text());
      case AnswerEvent.ToolCall call -> {
        JsonObject json = call(call);
        json.addProperty("index", call.index());
        JsonArray calls = new JsonArray();
        calls.add(json);
        delta.add("tool_calls", calls);
      }
      case AnswerEvent.Done done -> {}
      case AnswerEvent.Reading reading -> {
        return null;
      }
      case AnswerEvent.Failed failed -> {
        return null;
      }
    }
    return delta;
  }

  private static JsonObject call(AnswerEvent.ToolCall call) {
    JsonObject function = new JsonObject();
    function.addProperty("name", call.name());
    function.addProperty("arguments", call.arguments());
    JsonObject json = new JsonObject();
    json.addProperty("id", newId("call_"));
    json.addProperty("type", "function");
    json.add("function", function);
    return json;
  }

  private JsonObject piece(
      int index, JsonObject delta, String reason, List<TokenLikelihood> likelihoods) {
    JsonObject choice = choice(index, reason, likelihoods);
    choice.add("delta", delta);
    return choice;
  }

  @Override
  void gather(AnswerEvent event) {
    Message message = messages.computeIfAbsent(event.choice(), any -> new Message());
    switch (event) {
      case AnswerEvent.Text text -> {
        message.content.append(text.text());
        message.likelihoods.addAll(text.likelihoods());
      }
      case AnswerEvent.Reasoning text -> message.reasoning.append(text.text());
      case AnswerEvent.ToolCall call -> message.calls.add(call(call));
      case AnswerEvent.Done done -> message.reason = done.reason();
      case AnswerEvent.Reading reading -> {}
      case AnswerEvent.Failed failed -> {}
    }
  }

  @Override
  JsonArray choices() {
    JsonArray choices = new JsonArray();
    messages.forEach(
        (index, message) -> {
          JsonObject choice = choice(index, message.reason, message.likelihoods);
          choice.add("message", message.json());
          choices.add(choice);
        });
    return choices;
  }

  @Override
  JsonObject logprobs(List<TokenLikelihood> likelihoods, Tokenizer tokenizer) {
    return Logprobs.ofChat(likelihoods, tokenizer);
  }
}
